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
import { type News, newsOf, type Reported, type SeenDestination } from "./news.ts";
import { decodeReported, encodeReported, reportedDestination, reportedKey } from "./reported-facts.ts";

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
    if (records.length > 0) {
      const sent = this.#options.producer.send(records, { patienceMs: BROKERS_MS });
      await withDeadline(sent, BROKERS_MS, "telling of destinations");
    }
    log.debug({ event: "operations_reported", reported });
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
    return { news: news.length, records: next === reported ? [] : this.#recordsOf(id, news, reported, next, now) };
  }

  /** OP1. */
  #recordsOf(
    id: string,
    news: readonly News[],
    before: Reported,
    after: Reported,
    nowMs: number,
  ): readonly OutgoingRecord[] {
    const { names, codec } = this.#options;
    const events = news.map((each, index) => {
      const event = toEvent(each, { destinationId: id, number: before.count + index, nowMs });
      return { topic: names.events, key: eventKey(event.sourceId, event), value: codec.encode(event) };
    });
    return [...events, { topic: names.meta, key: reportedKey(id), value: encodeReported(after) }];
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

/** The destination stands as the user, so that its events keep their order. */
export function toEvent(
  { event, properties }: News,
  about: { readonly destinationId: string; readonly number: number; readonly nowMs: number },
): Event {
  const { destinationId, number, nowMs } = about;
  const messageId = `operations-${destinationId}-${number}`;
  const { id: sourceId } = OPERATIONS_SOURCE;
  const plain = plainEvent({ messageId, sourceId, type: "track", userId: destinationId, nowMs });
  return { ...plain, event, propertiesJson: JSON.stringify(properties) };
}
