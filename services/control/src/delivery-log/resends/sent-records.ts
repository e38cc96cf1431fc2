/**
 * The record behind a delivery, read from the place that its newest attempt, deferral or dead letter names.
 *
 * Owns nothing. A record counts as the delivery's only by its own content: a topic that was made anew has other records
 * at the same offsets.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { decodeProgress } from "@posthaste/contracts/headers";
import { retryTopicName, type TopicNames } from "@posthaste/contracts/topics";
import { isDeliverySuppressed, type SuppressedUsers } from "@posthaste/core/deletion/suppression";
import { decodeHistory } from "@posthaste/core/delivery/attempt-history";
import type { LoggedDelivery } from "@posthaste/core/delivery/attempt-record";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { Delivery, Replay } from "@posthaste/core/delivery/delivery";
import { isPosthasteError } from "@posthaste/core/errors";
import { Problem } from "@posthaste/http-kit/problem";
import { decodeOrReason } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { type RecordPlace, readRecord } from "@posthaste/kafka/log/read-record";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { attemptFromEntry, deferralFromEntry } from "@posthaste/read-model/attempt-entry";
import { deadLetterFromEntry } from "@posthaste/read-model/dead-letter-entry";
import { deliveryFromEntry } from "@posthaste/read-model/delivery-entry";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { VisibleDeadLetters } from "../deliveries/visible-dead-letters.ts";

/** The most entries of one delivery that are read: more than retries and replays make. */
const MAX_ENTRIES = 500;
/** How many places are looked at: the newest and, where retention deleted that record, those before it. */
const MAX_PLACES = 5;
const READ_MS = 5000;

export interface AskedDelivery {
  readonly messageId: string;
  readonly destinationId: string;
  /** Two sources may share a message id. */
  readonly sourceId?: string | undefined;
}

/** A record of a delivery: the newest, or one of them by name. */
export interface AskedRecord extends AskedDelivery {
  /** The record of one attempt: `delayMs:partition:offset`, the delay of its retry topic, 0 for the first topic. */
  readonly record?: string | undefined;
}

export interface SentRecord {
  readonly record: IncomingRecord;
  readonly delivery: Delivery;
  /** The dead letter, where the record is one; else null. */
  readonly deadLetter: DeadLetter | null;
  /** The attempts before, and how often the delivery was sent again. */
  readonly past: Pick<DeadLetter, "history" | "replays">;
  /** The delivery's replay or resend; null for its first sending. */
  readonly replay: Replay | null;
  /** How many attempts that sending had before. */
  readonly attempts: number;
  /** The URLs that the record owes; null for all. */
  readonly urls: readonly string[] | null;
  readonly isSuppressed: boolean;
}

export interface SentRecordsOptions {
  readonly connection: KafkaConnection;
  readonly names: TopicNames;
  readonly readModel: ReadModel;
  readonly deadLetters: VisibleDeadLetters;
  readonly suppressed: SuppressedUsers;
  readonly deliveryCodec: Codec<Delivery>;
  readonly deadLetterCodec: Codec<DeadLetter>;
}

interface KnownPlace extends RecordPlace {
  readonly atMs: number;
  /** As a caller names it; null for a dead letter, which no attempt was made of. */
  readonly name: string | null;
}

export class SentRecords {
  readonly #options: SentRecordsOptions;

  constructor(options: SentRecordsOptions) {
    this.#options = options;
  }

  /**
   * Finds the record; null when retention deleted it. Throws the Problem `not_found` where nothing is known of the
   * delivery, `conflict` where it ended as a dead letter that was purged, and `unavailable` while the delivery log
   * cannot be asked.
   */
  async find({ record: named, ...asked }: AskedRecord): Promise<SentRecord | null> {
    const all = await this.#placesOf(asked);
    const places = named === undefined ? all : all.filter(({ name }) => name === named);
    if (places.length === 0) {
      if (!this.#options.readModel.freshness("deliveries").complete) {
        throw new Problem("unavailable", "the delivery log is still being read: try again soon");
      }
      const { messageId, destinationId } = asked;
      const of = `${named === undefined ? "" : `the record ${named} of `}${messageId} for ${destinationId}`;
      throw new Problem("not_found", `nothing is logged of ${of}: what became of the event is told by its message id`);
    }
    for (const place of places.slice(0, MAX_PLACES)) {
      const record = await this.#read(place);
      const found = record === null ? null : await this.#decode(record);
      if (found !== null && isAsked(found.delivery, asked)) return found;
    }
    return null;
  }

  /** Whether a record of the delivery waits in a retry topic, as far as the delivery log knows. */
  async isWaiting({ messageId, destinationId, sourceId }: AskedDelivery): Promise<boolean> {
    const query = { messageId, destinationId, limit: MAX_ENTRIES };
    const sendings = (await this.#options.readModel.newest("deliveries", query)).map(deliveryFromEntry);
    return sendings.some((each) => {
      const isOf = sourceId === undefined || each.sourceId === sourceId;
      return isOf && (each.state === "waiting_retry" || each.state === "deferred");
    });
  }

  /** The places of the delivery's records, newest first. */
  async #placesOf({ messageId, destinationId, sourceId }: AskedDelivery): Promise<readonly KnownPlace[]> {
    const { readModel, deadLetters, names } = this.#options;
    const query = { messageId, destinationId, limit: MAX_ENTRIES };
    const [attempts, deferrals, dead] = await Promise.all([
      readModel.newest("attempts", query),
      readModel.newest("deferrals", query),
      deadLetters.ofMessage({ messageId, destinationIds: [destinationId], limit: MAX_ENTRIES }),
    ]);
    const isOf = (each: { readonly sourceId: string }): boolean => sourceId === undefined || each.sourceId === sourceId;
    const found = [
      ...attempts.map((entry) => ({ entry, said: attemptFromEntry(entry) })),
      ...deferrals.map((entry) => ({ entry, said: deferralFromEntry(entry) })),
    ].flatMap(({ entry, said }) => (isOf(said) ? placeOf(entry, said, names) : []));
    const purged = dead.purged.filter((entry) => isOf(deadLetterFromEntry(entry)));
    if (isEnd(purged, [...attempts, ...deferrals, ...dead.entries])) {
      throw new Problem("conflict", `${messageId} for ${destinationId} ended as a dead letter that was purged`);
    }
    const lost = dead.entries
      .filter((entry) => isOf(deadLetterFromEntry(entry)))
      .map(({ timeMs: atMs, partition, offset }) => ({
        ...{ atMs, name: null, topic: names.deadLetters, partition, offset },
      }));
    // At one moment the dead letter is the newer.
    return withoutRepeats([...lost, ...found].sort((a, b) => b.atMs - a.atMs));
  }

  /** Reads a record; null when it is no longer there. */
  async #read(place: KnownPlace): Promise<IncomingRecord | null> {
    const { connection } = this.#options;
    try {
      const ranges = await topicOffsets(connection, place.topic);
      const range = ranges.find(({ partition }) => partition === place.partition);
      if (range === undefined || place.offset < range.start || place.offset >= range.end) return null;
      return await readRecord(connection, place, READ_MS);
    } catch (error) {
      // A retry topic of an earlier schedule may be gone.
      if (isPosthasteError(error, "topic_missing")) return null;
      throw error;
    }
  }

  /** Decodes a record; null for one that cannot be read. */
  async #decode(record: IncomingRecord): Promise<SentRecord | null> {
    const { value, topic } = record;
    if (value === null) return null;
    const isDeadLetter = topic === this.#options.names.deadLetters;
    return isDeadLetter ? await this.#decodeDeadLetter(record, value) : await this.#decodeDelivery(record, value);
  }

  async #decodeDeadLetter(record: IncomingRecord, value: Buffer): Promise<SentRecord | null> {
    const { deadLetterCodec } = this.#options;
    await deadLetterCodec.prefetch(value);
    const deadLetter = decodeOrReason(deadLetterCodec, value);
    if (deadLetter instanceof Error) return null;
    const { history, replays, replayId, replayedFrom, attempts, lastAttempt } = deadLetter;
    const replay = replayId === null ? null : { id: replayId, count: replays, from: replayedFrom };
    const urls = lastAttempt.length === 0 ? null : lastAttempt.map(({ url }) => url);
    const isSuppressed = deadLetter.reason === "suppressed" || this.#isSuppressed(deadLetter, record);
    return {
      record,
      delivery: deadLetter,
      deadLetter,
      past: { history, replays },
      replay,
      attempts,
      urls,
      isSuppressed,
    };
  }

  async #decodeDelivery(record: IncomingRecord, value: Buffer): Promise<SentRecord | null> {
    const { deliveryCodec } = this.#options;
    await deliveryCodec.prefetch(value);
    const delivery = decodeOrReason(deliveryCodec, value);
    if (delivery instanceof Error) return null;
    const { history, replay, attempts, urls } = decodeProgress(record.headers);
    const past = { history: decodeHistory(history), replays: replay?.count ?? 0 };
    const isSuppressed = this.#isSuppressed(delivery, record);
    return { record, delivery, deadLetter: null, past, replay, attempts, urls, isSuppressed };
  }

  #isSuppressed(delivery: Delivery, { key }: IncomingRecord): boolean {
    const bodyText = () => Buffer.from(delivery.body).toString();
    return isDeliverySuppressed(this.#options.suppressed, { delivery, key: key?.toString() ?? null, bodyText });
  }
}

/** Whether a purged dead letter is the newest entry. */
function isEnd(purged: readonly ProjectionEntry[], others: readonly ProjectionEntry[]): boolean {
  return purged.some((deadLetter) => others.every(({ timeMs }) => timeMs <= deadLetter.timeMs));
}

function isAsked(delivery: Delivery, { messageId, destinationId, sourceId }: AskedDelivery): boolean {
  if (delivery.messageId !== messageId || delivery.destinationId !== destinationId) return false;
  return sourceId === undefined || delivery.sourceId === sourceId;
}

/** The place that an entry names; none in an entry of an earlier release. */
function placeOf({ timeMs: atMs }: ProjectionEntry, said: LoggedDelivery, names: TopicNames): readonly KnownPlace[] {
  const { recordDelayMs, recordPartition: partition, recordOffset: offset } = said;
  if (recordDelayMs === null || partition === null || offset === null) return [];
  const topic = recordDelayMs === 0 ? names.deliveries : retryTopicName(names, recordDelayMs);
  return [{ atMs, name: `${recordDelayMs}:${partition}:${offset}`, topic, partition, offset }];
}

function withoutRepeats(places: readonly KnownPlace[]): readonly KnownPlace[] {
  const seen = new Set<string>();
  return places.filter(({ topic, partition, offset }) => {
    const name = `${topic}/${partition}/${offset}`;
    return !seen.has(name) && seen.add(name);
  });
}
