/**
 * Verdicts in words: one sentence about the outcome of an event or a delivery, and the command that helps. Sources and
 * destinations have their names where control knows them, and their ids where it does not.
 */
import { CALL_REFUSAL_STATUS } from "@posthaste/core/call/call";
import { UNKNOWN_SOURCE_ID } from "@posthaste/core/call/source-activity";
import type { AttemptRecord } from "@posthaste/core/delivery/attempt-record";
import { attemptsLeft } from "@posthaste/core/verdict/attempts-left";
import type { Behind, DeliveryVerdict, OtherVerdict, UrlAnswer } from "@posthaste/core/verdict/verdict";
import type { StoppedBy } from "@posthaste/deletions/stopping-deletions";
import { isoTime } from "@posthaste/http-kit/moment";
import type { UnfinishedEvent } from "@posthaste/pipeline/pipeline-findings";
import type { ListedRefusal } from "@posthaste/read-model/activity-entry";
import type { ListedRejectedCall } from "@posthaste/read-model/rejected-call-entry";
import type { ListedUnrouted } from "@posthaste/read-model/unrouted-entry";
import { adviceFor } from "../../configuration/sources/refusal-advice.ts";
import { remedyOf } from "../deliveries/dead-letter-groups.ts";
import type { JudgedEvent } from "./event-verdict.ts";
import type { LiveDeliveryState, Obstacle } from "./live-delivery-state.ts";
import { tellStopped } from "./stopped-view.ts";
import type { VerdictText } from "./verdict-text.ts";

export interface Names {
  readonly source: (id: string) => string;
  readonly destination: (id: string) => string;
}

/** The reasons why a delivery waits without a request, and the end of each wait. */
const DEFERRED_FOR: Readonly<Record<string, (obstacle: Obstacle) => string>> = {
  breaker_open: ({ nextProbeMs }) =>
    `its breaker is open after failures, until a probe is answered${nextProbeMs === null ? "" : ` (the next ${isoTime(nextProbeMs)})`}`,
  concurrency_limit: () => "it takes no more requests at a time, until some of them end",
  window_full: () => "its deliveries fill the window of their partition, until some of them are done",
  retry_after: ({ notBeforeMs }) =>
    `its receiver asked not to be called for a while${notBeforeMs === null ? "" : `, until ${isoTime(notBeforeMs)}`}`,
  unknown_key: () =>
    "a secret of it is under a key that delivery lacks, until its POSTHASTE_SECRET_KEYS has the key again",
};

/** A delivery of which something is told. */
export interface ReportedDelivery {
  readonly messageId: string;
  readonly destinationId: string;
  readonly nowMs: number;
  readonly beside: LiveDeliveryState;
  /** The known facts of the deletion request, where one stopped the delivery. */
  readonly stoppedBy: StoppedBy | undefined;
}

export function tellDelivery(
  verdict: DeliveryVerdict | OtherVerdict,
  delivery: ReportedDelivery,
  names: Names,
): VerdictText {
  const { destinationId } = delivery;
  const name = names.destination(destinationId);
  switch (verdict.cause) {
    case "delivered":
      return done(`${deliveredInWords(verdict, name)}, ${tries(verdict.tries)}.`);
    case "delivered_elsewhere": {
      const others = verdict.others.map(inWords).join("; ");
      return done(`${deliveredInWords(verdict, name)}; of its other URLs ${others}.`);
    }
    case "waiting_retry":
      return tellWaiting(verdict, delivery, name);
    case "deferred": {
      const why = DEFERRED_FOR[verdict.deferredCause]?.(delivery.beside.obstacle(destinationId));
      const due = verdict.dueAtMs === null ? "" : `; looked at again ${isoTime(verdict.dueAtMs)}`;
      const since = `deferred since ${isoTime(verdict.sinceMs)}, since ${why ?? verdict.deferredCause}`;
      return {
        sentence: `Not delivered to ${name} yet: ${since}${due}.${givenUpInWords(verdict)}`,
        command: `posthaste destinations get ${destinationId}`,
      };
    }
    case "lost":
      return tellLost(verdict, name);
    case "in_pipeline": {
      const sentence = `Not delivered to ${name} yet: delivery is not done with it, ${behindInWords(verdict)}.`;
      return { sentence, command: "posthaste doctor" };
    }
    case "destination_off": {
      const command = `posthaste destinations update ${destinationId} --enabled`;
      const unless = unlessSentAgain(`once ${name} is on`);
      return { sentence: `Not sent to ${name}: it was off${offInWords(verdict)}. ${unless}`, command };
    }
    case "suppressed":
      return tellStopped(`Not delivered to ${name}`, delivery.stoppedBy);
    case "dead_letter":
      return tellDead(verdict, name);
  }
}

type Verdict<Cause extends string> = Extract<DeliveryVerdict, { readonly cause: Cause }>;

type DeliveredVerdict = Extract<DeliveryVerdict, { readonly url: string }>;

function deliveredInWords({ atMs, url, durationMs }: DeliveredVerdict, name: string): string {
  return `Delivered to ${name} at ${isoTime(atMs)} by ${url} in ${Math.round(durationMs)} ms`;
}

function tellWaiting(verdict: Verdict<"waiting_retry">, delivery: ReportedDelivery, name: string): VerdictText {
  const { dueAtMs, delayMs, deadlineMs, last } = verdict;
  const { messageId, nowMs, beside } = delivery;
  const retryDelaysMs = beside.retryDelaysMs();
  const answered = last.map(inWords).join("; ");
  const left = retryDelaysMs === null ? null : attemptsLeft(verdict, retryDelaysMs);
  const parts = [
    `${dueAtMs > nowMs ? "next try" : "its next try was due"} ${isoTime(dueAtMs)}`,
    ...(delayMs === 0 ? [] : [`it waits in ${beside.retryTopic(delayMs)}`]),
    ...(left === null ? [] : [left === 1 ? "the last one" : `${left} tries left at the most`]),
    ...(deadlineMs === null ? [] : [`last possible ${isoTime(deadlineMs)}`]),
  ];
  const sentence = `Not delivered to ${name} yet: ${answered === "" ? "" : `${answered}; `}${parts.join(", ")}.${givenUpInWords(verdict)}`;
  return { sentence, command: `posthaste deliveries --message-id ${shellWord(messageId)}` };
}

function givenUpInWords({ givenUp }: Verdict<"waiting_retry" | "deferred">): string {
  if (givenUp === undefined) return "";
  const { urls, place } = givenUp;
  const deadLetter = place === null ? "" : `, as dead letter ${place}`;
  return ` Given up for ${urls.length === 0 ? "another URL" : urls.join(" and ")}${deadLetter}.`;
}

function tellDead(verdict: Verdict<"dead_letter">, name: string): VerdictText {
  const { atMs, reason, reasonClass, last, place } = verdict;
  const why = [...(reasonClass === null ? [] : [reasonClass]), ...last.map(inWords)].join("; ");
  const because = `${reason.replaceAll("_", " ")}${why === "" ? "" : ` (${why})`}`;
  const end = `given up at ${isoTime(atMs)} after ${tries(verdict.tries)}, ${because}`;
  const command = place === null ? null : `posthaste dead-letters replay --places ${place}`;
  if (reasonClass === null) return { sentence: `Not delivered to ${name}: ${end}.`, command };
  const [first] = last;
  const error = first === undefined ? null : String(first.status ?? first.error);
  // The dead letter holds the values that were written into it.
  const group = { reason, reasonClass, error } as Parameters<typeof remedyOf>[0];
  const after = place === null ? "its dead letter was purged" : remedyOf(group);
  return { sentence: `Not delivered to ${name}: ${end}; ${after}.`, command };
}

function tellLost(verdict: Extract<OtherVerdict, { readonly cause: "lost" }>, name: string): VerdictText {
  const { topic, partition, from, to, acceptedAtMs } = verdict;
  const where = `${topic}/${partition}, offsets ${from} to ${to - 1}`;
  const sentence =
    `Not delivered to ${name}: lost after ${tries(verdict.tries)}. Its record was deleted while it waited ` +
    `(${where}), and the loss was accepted at ${isoTime(acceptedAtMs)}. ${unlessSentAgain("if it is still wanted")}`;
  return { sentence, command: `posthaste audit --target ${topic}/${partition}` };
}

/** ` since …, switched off by …`, as far as control knows it. */
function offInWords({ sinceMs, by }: Extract<OtherVerdict, { readonly cause: "destination_off" }>): string {
  if (sinceMs === null) return "";
  return ` since ${isoTime(sinceMs)}, switched off by ${by ?? "whom the audit does not know"}`;
}

/** No record of a destination holds the event, and the router remembers its message id. */
function unlessSentAgain(when: string): string {
  return `It will not be sent unless the source sends it again, under another message id, ${when}.`;
}

type JudgedUnrouted = Extract<JudgedEvent, { readonly unrouted: ListedUnrouted }>;

/** An event that led to no delivery. */
export function tellUnrouted(
  { unrouted: event, deliveries, madeAfter, firstAtMs, stoppedBy }: JudgedUnrouted,
  names: Names,
): VerdictText {
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
      const unless = unlessSentAgain("once one of them is on");
      return {
        sentence: `Not delivered: every destination of ${source} was off (${off.join("; ")}). ${unless}`,
        command,
      };
    }
    case "integrations": {
      const entry = event.integration === null ? "integrations" : `integrations entry "${event.integration}"`;
      const unless = unlessSentAgain("with integrations that leave them on");
      return {
        sentence: `Not delivered: the call's own ${entry} switched the destinations off. ${unless}`,
        command: `posthaste sources calls ${event.sourceId}`,
      };
    }
    case "duplicate": {
      const { originPartition, firstOffset } = event;
      const where = firstOffset === null ? "earlier" : `at ${originPartition}:${firstOffset} of the events`;
      const when = firstAtMs === null ? "" : `, received ${isoTime(firstAtMs)}`;
      return done(`Not delivered again: ${source} sent this message id before, ${where}${when}.`);
    }
    case "suppressed":
      return tellStopped("Not delivered", stoppedBy);
    case "other":
      return done("Not delivered, for a cause that this release does not know.");
  }
}

/** An event that the router has not finished. */
export function tellUnfinished(event: UnfinishedEvent, names: Names): VerdictText {
  const from = names.source(event.sourceId);
  const sentence = `Not delivered yet: the router is not done with this event of ${from}, ${behindInWords(event)}.`;
  return { sentence, command: "posthaste doctor" };
}

function behindInWords({ recordsBehind, behindMs }: Behind): string {
  const seconds = Math.round(behindMs / 1000);
  const before = recordsBehind === 1 ? "1 record" : `${recordsBehind} records`;
  return `${before} before it in its partition, ${seconds} s behind`;
}

/** A delivery of an earlier release, whose attempts do not name their follow-up. */
export function tellEndless(
  { startedAtMs, attempt, outcome, messageId, urls }: AttemptRecord,
  name: string,
): VerdictText {
  const answered = urls.map(inWords).join("; ");
  const sentence =
    `Not known to be delivered to ${name}: try ${attempt} at ${isoTime(startedAtMs)} came to ${outcome} (${answered}), ` +
    "and the log does not say what followed.";
  return { sentence, command: `posthaste deliveries --message-id ${shellWord(messageId)}` };
}

/** A request that ingest refused as a whole. */
export function tellRefused({ sourceId, atMs, status, code, unknownKey }: ListedRefusal, names: Names): VerdictText {
  const key = unknownKey === null ? "" : ` (${unknownKey})`;
  const from = sourceId === UNKNOWN_SOURCE_ID ? `a sender without a known key${key}` : names.source(sourceId);
  const answered = `was answered ${status} ${code} at ${isoTime(atMs)}. ${adviceFor(code)}`;
  return { sentence: `Not accepted: the whole request of ${from} ${answered}`, command: commandFor(code, sourceId) };
}

function commandFor(code: string, sourceId: string): string | null {
  if (code === "missing_write_key" || code === "unknown_write_key") return "posthaste sources list";
  const isOff = code === "source_disabled" && sourceId !== UNKNOWN_SOURCE_ID;
  return isOff ? `posthaste sources update ${sourceId} --enabled` : null;
}

/** A call that ingest rejected. Its message names the change to make. */
export function tellRejected(rejected: ListedRejectedCall): VerdictText {
  const { single, code, message, index, sourceId } = rejected;
  const command = `posthaste sources calls ${sourceId}`;
  if (single === false) return { sentence: `Not accepted as call ${index} of its batch: ${code}. ${message}`, command };
  const answered = statusAndCode(rejected);
  return { sentence: `Not accepted: ${answered === code ? "" : "ingest answered "}${answered}. ${message}`, command };
}

/**
 * `400 missing_user`; the code alone of a call of a batch, and where the status is not known: of a later release's
 * code, and of an earlier release's entry, which may be of a batch.
 */
export function statusAndCode({ single, code }: Pick<ListedRejectedCall, "single" | "code">): string {
  const status = single === true ? STATUSES.get(code) : undefined;
  return status === undefined ? code : `${status} ${code}`;
}

const STATUSES: ReadonlyMap<string, number> = new Map(Object.entries(CALL_REFUSAL_STATUS));

function done(sentence: string): VerdictText {
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
