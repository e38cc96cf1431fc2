/**
 * Verdicts in words: one sentence that says what became of an event or a delivery, and the command that helps. It names
 * sources and destinations where control knows their names, and by their ids where it does not.
 */
import { UNKNOWN_SOURCE_ID } from "@posthaste/core/call/source-activity";
import type { AttemptRecord } from "@posthaste/core/delivery/attempt-record";
import type { Behind, DeliveryVerdict, OtherVerdict, UrlAnswer } from "@posthaste/core/verdict/verdict";
import { isoTime } from "../http/moment.ts";
import type { UnfinishedEvent } from "../pipeline/pipeline-findings.ts";
import type { ListedRefusal } from "../read-model/activity-entry.ts";
import type { ListedRejectedCall } from "../read-model/rejected-call-entry.ts";
import type { ListedUnrouted } from "../read-model/unrouted-entry.ts";
import type { JudgedEvent } from "./event-verdict.ts";

export interface Told {
  readonly sentence: string;
  /** A command line; null where there is nothing to do. */
  readonly command: string | null;
}

export interface Names {
  readonly source: (id: string) => string;
  readonly destination: (id: string) => string;
}

const DEFERRED_FOR: Readonly<Record<string, string>> = {
  breaker_open: "its breaker is open after failures",
  concurrency_limit: "it takes no more requests at a time",
  window_full: "its deliveries fill the window of their partition",
  retry_after: "its receiver asked not to be called for a while",
  unknown_key: "a secret of it is under a key that delivery lacks (POSTHASTE_SECRET_KEYS)",
};

const STOPPED = "a deletion request stopped the user's events";

/** `about`: the delivery's message, its destination, and the current time. */
export function tellDelivery(
  verdict: DeliveryVerdict | OtherVerdict,
  about: { readonly messageId: string; readonly destinationId: string; readonly nowMs: number },
  names: Names,
): Told {
  const name = names.destination(about.destinationId);
  switch (verdict.cause) {
    case "delivered":
      return done(`Delivered to ${name} at ${isoTime(verdict.atMs)} by ${verdict.url}, ${tries(verdict.tries)}.`);
    case "delivered_elsewhere": {
      const others = verdict.others.map(inWords).join("; ");
      return done(`Delivered to ${name} at ${isoTime(verdict.atMs)} by ${verdict.url}; of its other URLs ${others}.`);
    }
    case "waiting_retry": {
      const last = verdict.deadlineMs === null ? "" : `, last possible ${isoTime(verdict.deadlineMs)}`;
      const answered = verdict.last.map(inWords).join("; ");
      const tried = answered === "" ? "" : `${answered}; `;
      const next = verdict.dueAtMs > about.nowMs ? "next try" : "its next try was due";
      const sentence = `Not delivered to ${name} yet: ${tried}${next} ${isoTime(verdict.dueAtMs)}${last}.`;
      return { sentence, command: `posthaste deliveries --message-id ${shellWord(about.messageId)}` };
    }
    case "deferred": {
      const why = DEFERRED_FOR[verdict.deferredCause] ?? verdict.deferredCause;
      const due = verdict.dueAtMs === null ? "" : `, looked at again ${isoTime(verdict.dueAtMs)}`;
      const sentence = `Not delivered to ${name} yet: deferred since ${isoTime(verdict.sinceMs)}, since ${why}${due}.`;
      return { sentence, command: `posthaste destinations get ${about.destinationId}` };
    }
    case "in_pipeline": {
      const sentence = `Not delivered to ${name} yet: delivery is not done with it, ${behindInWords(verdict)}.`;
      return { sentence, command: "posthaste doctor" };
    }
    case "destination_off": {
      const command = `posthaste destinations update ${about.destinationId} --enabled`;
      return { sentence: `Not sent to ${name}: it was off${offInWords(verdict)}.`, command };
    }
    case "suppressed":
      return { sentence: `Not delivered to ${name}: ${STOPPED}.`, command: "posthaste deletions list" };
    case "dead_letter": {
      const answered = verdict.last.length === 0 ? "" : ` (${verdict.last.map(inWords).join("; ")})`;
      const end = `given up at ${isoTime(verdict.atMs)} after ${tries(verdict.tries)}`;
      const purged = verdict.place === null && verdict.reasonClass !== null ? "; its dead letter was purged" : "";
      const sentence = `Not delivered to ${name}: ${end}, ${verdict.reason}${answered}${purged}.`;
      const command = verdict.place === null ? null : `posthaste dead-letters replay --places ${verdict.place}`;
      return { sentence, command };
    }
  }
}

/** ` since …, switched off by …`, as far as control knows it. */
function offInWords({ sinceMs, by }: Extract<OtherVerdict, { readonly cause: "destination_off" }>): string {
  if (sinceMs === null) return "";
  return ` since ${isoTime(sinceMs)}, switched off by ${by ?? "whom the audit does not know"}`;
}

type JudgedUnrouted = Extract<JudgedEvent, { readonly unrouted: ListedUnrouted }>;

/** An event that led to no delivery. */
export function tellUnrouted({ unrouted: event, deliveries, madeAfter }: JudgedUnrouted, names: Names): Told {
  const source = names.source(event.sourceId);
  const [first] = event.destinationIds;
  switch (event.cause) {
    case "no_destination": {
      if (madeAfter !== null) {
        const made = `${names.destination(madeAfter.destinationId)} was made only at ${isoTime(madeAfter.atMs)}`;
        return done(`Not delivered: no destination was connected to ${source} when it came; ${made}.`);
      }
      const command = `posthaste destinations create --name NAME --source-ids ${event.sourceId} --urls URL`;
      return { sentence: `Not delivered: no destination is connected to ${source}.`, command };
    }
    case "destination_off": {
      const off = deliveries.map(({ destinationId, verdict }) => {
        const since = verdict?.cause === "destination_off" ? offInWords(verdict) : "";
        return `${names.destination(destinationId)}${since}`;
      });
      const command = first === undefined ? null : `posthaste destinations update ${first} --enabled`;
      return { sentence: `Not delivered: every destination of ${source} was off (${off.join("; ")}).`, command };
    }
    case "integrations": {
      const entry = event.integration === null ? "integrations" : `integrations entry "${event.integration}"`;
      return done(`Not delivered: the call's own ${entry} switched the destinations off.`);
    }
    case "duplicate": {
      const { originPartition, firstOffset } = event;
      const where = firstOffset === null ? "earlier" : `at ${originPartition}:${firstOffset} of the events`;
      return done(`Not delivered again: ${source} sent this message id before, ${where}.`);
    }
    case "suppressed":
      return {
        sentence: `Not delivered: ${STOPPED}.`,
        command: "posthaste deletions list",
      };
    case "other":
      return done("Not delivered, for a cause that this release does not know.");
  }
}

/** An event that the router has not finished. */
export function tellUnfinished(event: UnfinishedEvent, names: Names): Told {
  const from = names.source(event.sourceId);
  const sentence = `Not delivered yet: the router is not done with this event of ${from}, ${behindInWords(event)}.`;
  return { sentence, command: "posthaste doctor" };
}

function behindInWords({ recordsBehind, behindMs }: Behind): string {
  const seconds = Math.round(behindMs / 1000);
  const before = recordsBehind === 1 ? "1 record" : `${recordsBehind} records`;
  return `${before} before it in its partition, ${seconds} s behind`;
}

/** A delivery of an earlier release, whose attempts do not tell what followed. */
export function tellEndless({ startedAtMs, attempt, outcome, messageId, urls }: AttemptRecord, name: string): Told {
  const answered = urls.map(inWords).join("; ");
  const sentence =
    `Not known to be delivered to ${name}: try ${attempt} at ${isoTime(startedAtMs)} came to ${outcome} (${answered}), ` +
    "and the log does not say what followed.";
  return { sentence, command: `posthaste deliveries --message-id ${shellWord(messageId)}` };
}

/** What the source should change, by the status with which ingest refused a whole request. */
const REMEDIES: Readonly<Record<number, string>> = {
  400: "send a body that can be read",
  401: "send the write key of a source",
  404: "send to a path that ingest has",
  413: "send less at a time",
  415: "send JSON",
  429: "send it again later",
  503: "send it again later",
};

/** A request that ingest refused as a whole. */
export function tellRefused({ sourceId, atMs, status, code, unknownKey }: ListedRefusal, names: Names): Told {
  const key = unknownKey === null ? "" : ` (${unknownKey})`;
  const from = sourceId === UNKNOWN_SOURCE_ID ? `a sender without a known key${key}` : names.source(sourceId);
  const remedy = REMEDIES[status] === undefined ? "" : `: ${REMEDIES[status]}`;
  const answered = `was answered ${status} ${code} at ${isoTime(atMs)}${remedy}`;
  const command = status === 401 ? "posthaste sources list" : null;
  return { sentence: `Not accepted: the whole request of ${from} ${answered}.`, command };
}

/** A call that ingest rejected. */
export function tellRejected({ single, code, message, index }: ListedRejectedCall): Told {
  if (single === false) return done(`Not accepted as call ${index} of its batch: ${code}. ${message}`);
  return done(`Not accepted: ${code}. ${message}`);
}

function done(sentence: string): Told {
  return { sentence, command: null };
}

/** A text as one word of the shell: senders choose message ids, so one may hold any character. */
export function shellWord(text: string): string {
  return /^[\w.:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function tries(count: number): string {
  return count === 1 ? "1 try" : `${count} tries`;
}

function inWords({ url, status, error }: UrlAnswer): string {
  return `${url} answered ${status ?? `nothing (${error ?? "no answer"})`}`;
}
