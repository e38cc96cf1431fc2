/**
 * Reports the state of destinations to destinations of the source *operations*, by the way of any event: it writes an
 * event, which the router and delivery send, sign and retry as they do all.
 *
 * Owns nothing: the reported states are facts of the meta topic, so that another process goes on from there.
 * OP1  The events of a destination and the fact that they were reported go to the brokers in one call. An event's id is
 *      the destination's id and the event's number by that fact. When the fact was lost with its process, the event is
 *      sent again with the same id.
 * OP2  Nothing is reported of the destinations that get reports: their own failures make no events that fail again.
 * OP3  A round reports at most `MOST_NEWS`, of the worst destinations first; later rounds report the rest.
 * OP4  While no destination gets reports, nothing is looked at, and nothing counts as reported.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { Destination } from "@posthaste/core/config/destination";
import { OPERATIONS_SOURCE } from "@posthaste/core/config/source";
import type { Event } from "@posthaste/core/event/event";
import { plainEvent } from "@posthaste/core/event/plain-event";
import type { JudgedHealth } from "@posthaste/core/health/health-state";
import type { Log } from "@posthaste/core/log";
import { eventKey } from "@posthaste/core/routing/partition-key";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import type { Table } from "@posthaste/kafka/log/table";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { type News, newsOf, type Reported, type ReportedTopic, type SeenDestination, topicNewsOf } from "./news.ts";
import type { OldRecords } from "./old-records.ts";
import {
  decodeReported,
  decodeReportedTopic,
  encodeReported,
  reportedDestination,
  reportedKey,
  reportedTopic,
  topicKey,
} from "./reported-facts.ts";

export const MOST_NEWS = 60;
const BROKERS_MS = 10_000;

/** A destination with its judged health. */
export interface KnownDestination {
  readonly destination: Destination;
  readonly judged: JudgedHealth;
}

export interface TellerOptions {
  readonly names: { readonly events: string; readonly meta: string };
  /** The facts of the meta topic, as text. */
  readonly facts: Pick<Table<string>, "get" | "entries" | "refresh">;
  readonly producer: Pick<Producer, "send">;
  readonly codec: Pick<Codec<Event>, "encode">;
  /** All destinations, the worst first. */
  readonly known: () => readonly KnownDestination[];
  /** Whether an attempt at the destination failed within the hour. */
  readonly failedLately: (destinationId: string) => boolean;
  /** Null while the dead letters cannot be counted. */
  readonly openDeadLetters: (destinationId: string) => Promise<number | null>;
  /** The topics with old records at this moment. Rejects where the brokers do not answer. */
  readonly oldRecords: (nowMs: number) => Promise<readonly OldRecords[]>;
  readonly nowMs: () => number;
  readonly log: Log;
}

const getsReports = ({ sourceIds }: Destination): boolean => sourceIds.includes(OPERATIONS_SOURCE.id);

export class Teller {
  readonly #options: TellerOptions;

  constructor(options: TellerOptions) {
    this.#options = options;
  }

  /** One round, of one process at a time. Rejects where the brokers do not answer; another round then begins anew. */
  async tell(signal: AbortSignal): Promise<void> {
    const { facts, known, log } = this.#options;
    const all = known();
    if (!all.some(({ destination }) => destination.enabled && getsReports(destination))) return;
    await facts.refresh(BROKERS_MS);
    const records: OutgoingRecord[] = this.#forgotten(all);
    let reported = 0;
    for (const each of all) {
      if (getsReports(each.destination)) continue;
      const { news, records: its } = await this.#look(each);
      if (signal.aborted) return;
      records.push(...its);
      reported += news;
      if (reported >= MOST_NEWS) break;
    }
    await this.#send(records);
    const ofTopics = await this.#lookAtTopics();
    if (signal.aborted) return;
    await this.#send(ofTopics);
    log.debug({ event: "operations_reported", reported });
  }

  async #send(records: readonly OutgoingRecord[]): Promise<void> {
    if (records.length === 0) return;
    const sent = this.#options.producer.send(records, { patienceMs: BROKERS_MS });
    await withDeadline(sent, BROKERS_MS, "reporting on destinations");
  }

  /** OE5 of news.ts. */
  async #lookAtTopics(): Promise<readonly OutgoingRecord[]> {
    const { facts, oldRecords, nowMs } = this.#options;
    const now = Math.round(nowMs());
    const old = new Map((await oldRecords(now)).map((each) => [each.topic, each]));
    const before = [...facts.entries()].flatMap(([key]) => reportedTopic(key) ?? []);
    return [...new Set([...old.keys(), ...before])].flatMap((topic) => {
      const reported = decodeReportedTopic(facts.get(topicKey(topic)));
      const { news, reported: next } = topicNewsOf(old.get(topic) ?? null, reported, now);
      return next === reported
        ? []
        : this.#recordsOf({ id: topic, key: topicKey(topic), news, before: reported, after: next }, now);
    });
  }

  async #look({ destination, judged }: KnownDestination) {
    const { facts, nowMs, failedLately, openDeadLetters } = this.#options;
    const { id, name } = destination;
    const reported = decodeReported(facts.get(reportedKey(id)));
    // Nobody is asked about the many that are well.
    const asks = reported.openDeadLetters > 0 || reported.state !== "well" || failedLately(id);
    const seen: SeenDestination = { id, name, judged, openDeadLetters: asks ? await openDeadLetters(id) : null };
    const now = Math.round(nowMs());
    const { news, reported: next } = newsOf(seen, reported, now);
    return {
      news: news.length,
      records:
        next === reported
          ? []
          : this.#recordsOf({ id, key: reportedKey(id), news, before: reported, after: next }, now),
    };
  }

  /** OP1. */
  #recordsOf({ id, key, news, before, after }: Change, nowMs: number): readonly OutgoingRecord[] {
    const { names, codec } = this.#options;
    const events = news.map((each, index) => {
      const event = toEvent(each, { id, number: before.count + index, nowMs });
      return { topic: names.events, key: eventKey(event.sourceId, event), value: codec.encode(event) };
    });
    return [...events, { topic: names.meta, key, value: encodeReported(after) }];
  }

  /** The facts of destinations that were removed are removed too. */
  #forgotten(all: readonly KnownDestination[]): OutgoingRecord[] {
    const ids = new Set(all.map(({ destination }) => destination.id));
    return [...this.#options.facts.entries()].flatMap(([key]) => {
      const id = reportedDestination(key);
      return id === null || ids.has(id) ? [] : [{ topic: this.#options.names.meta, key, value: null }];
    });
  }
}

/** A new report on a destination or topic. */
interface Change {
  /** The id of the destination, or the name of the topic. */
  readonly id: string;
  /** The key of its fact. */
  readonly key: string;
  readonly news: readonly News[];
  readonly before: Reported | ReportedTopic;
  readonly after: Reported | ReportedTopic;
}

/** The destination stands as the user, so that its events keep their order. */
export function toEvent(
  { event, properties }: News,
  { id, number, nowMs }: { readonly id: string; readonly number: number; readonly nowMs: number },
): Event {
  const messageId = `operations-${id}-${number}`;
  const { id: sourceId } = OPERATIONS_SOURCE;
  const plain = plainEvent({ messageId, sourceId, type: "track", userId: id, nowMs });
  return { ...plain, event, propertiesJson: JSON.stringify(properties) };
}
