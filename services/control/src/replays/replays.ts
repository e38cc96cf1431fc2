/**
 * Replays: dead letters that are sent again, as deliveries.
 *
 * Owns: the replays that this process was asked for, the running one and what is remembered of the others.
 * Z1  A replayed delivery keeps its key, message id and body, and carries an origin of no incarnation (O3 of
 *     origin.ts): it is new to whoever drops repeats, and the receiver's idempotency key says what it is. Its headers
 *     name the replay, the dead letter and the attempts before (`replayedProgress`).
 * Z2  A replay reads the topic itself, up to where it ended at the start and to letters from before that moment: what
 *     dies again is not taken up by the same replay.
 * Z3  One runs at a time, a partition after the other, each from its start: the order of a key stays.
 * Z4  Its records go through a producer of its own: no write of control's waits behind them.
 * Z5  A replay ends with its process. What it had not sent is a dead letter still; what it had would be sent again by
 *     another.
 * Z6  What is of a suppressed user is passed over and counted, and so is what was dropped for a suppression, which has
 *     no body.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { encodeProgress } from "@posthaste/contracts/headers";
import type { TopicNames } from "@posthaste/contracts/topics";
import { isDeliverySuppressed, type SuppressedUsers } from "@posthaste/core/deletion/suppression";
import type { DeadLetter, DeadLetterReason } from "@posthaste/core/delivery/dead-letter";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { replayedDelivery, replayedProgress } from "@posthaste/core/delivery/replay";
import { PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import { isUnreadable } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { followLog } from "@posthaste/kafka/log/log-reader";
import { createProducer, type OutgoingRecord, type Producer } from "@posthaste/kafka/producer/producer";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

/** Of the replays that are done, the newest. */
const REMEMBERED = 100;

export interface ReplayFilter {
  readonly destinationId?: string | undefined;
  readonly reason?: DeadLetterReason | undefined;
  readonly sinceMs?: number | undefined;
  /** Before this moment, which is never later than the replay's start. */
  readonly untilMs: number;
}

export const REPLAY_STATES = ["waiting", "running", "done", "failed"] as const;

export interface Replay {
  readonly id: string;
  readonly state: (typeof REPLAY_STATES)[number];
  /** Dead letters that fitted when it was asked for. */
  readonly matched: number;
  /** Deliveries that the brokers have. */
  readonly replayed: number;
  /** Dead letters that fitted and were passed over, since their user is suppressed or was when they died. */
  readonly leftOut: number;
  readonly createdAtMs: number;
  /** Null before its end. */
  readonly endedAtMs: number | null;
}

export interface ReplaysOptions {
  readonly connection: KafkaConnection;
  readonly names: TopicNames;
  readonly letters: Codec<DeadLetter>;
  readonly deliveries: Codec<Delivery>;
  readonly suppressed: SuppressedUsers;
  /** Whether each URL of this destination is retried on its own. */
  readonly settlesEach: (destinationId: string) => boolean;
  readonly clock: Clock;
}

export class Replays {
  readonly #options: ReplaysOptions;
  readonly #replays = new Map<string, Replay>();
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: ReplaysOptions) {
    this.#options = options;
  }

  get(id: string): Replay | undefined {
    return this.#replays.get(id);
  }

  /** Starts a replay, or has it wait for those before it. */
  start(id: string, filter: ReplayFilter, matched: number): void {
    const createdAtMs = this.#options.clock.nowMs();
    this.#replays.set(id, { id, state: "waiting", matched, replayed: 0, leftOut: 0, createdAtMs, endedAtMs: null });
    for (const old of [...this.#replays.values()].filter(({ endedAtMs }) => endedAtMs !== null).slice(0, -REMEMBERED)) {
      this.#replays.delete(old.id);
    }
    this.#running = this.#running.then(() => this.#run(id, filter));
  }

  /** Ends what runs (Z5). */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(id: string, filter: ReplayFilter): Promise<void> {
    const { connection, names, clock } = this.#options;
    if (this.#isClosed) return;
    this.#change(id, { state: "running" });
    try {
      const ends = await topicOffsets(connection, names.deadLetters);
      const producer = await createProducer(connection, { name: "replay", topics: [names.deliveries] });
      try {
        for (const { partition, start, end } of ends) {
          if (end > start) await this.#replayPartition(id, filter, producer, { partition, end });
        }
      } finally {
        await producer.close();
      }
      this.#change(id, { state: "done", endedAtMs: clock.nowMs() });
    } catch (error) {
      this.#change(id, { state: "failed", endedAtMs: clock.nowMs() });
      connection.log.error({ event: "replay_failed", replayId: id, err: error });
    }
    const { matched, replayed } = this.#find(id);
    connection.log.info({ event: "replay_ended", replayId: id, matched, replayed });
  }

  async #replayPartition(
    id: string,
    filter: ReplayFilter,
    producer: Producer,
    { partition, end }: { readonly partition: number; readonly end: number },
  ): Promise<void> {
    const { connection, names } = this.#options;
    const failed = Promise.withResolvers<never>();
    const reader = await followLog(connection, {
      topic: names.deadLetters,
      partition,
      from: "start",
      onRecords: async (records) => {
        if (this.#isClosed) failed.reject(new PosthasteError("closed", "control is ending"));
        const outgoing: OutgoingRecord[] = [];
        let leftOut = 0;
        for (const record of records) {
          if (record.offset >= end || record.value === null) continue;
          const letter = await this.#read(record, record.value);
          if (letter === null || !fits(filter, letter)) continue;
          if (this.#isLeftOut(letter, record)) leftOut += 1;
          else outgoing.push(this.#toDelivery(id, letter, record));
        }
        this.#change(id, { leftOut: this.#find(id).leftOut + leftOut });
        if (outgoing.length === 0 || this.#isClosed) return;
        await producer.send(outgoing);
        this.#change(id, { replayed: this.#find(id).replayed + outgoing.length });
      },
      onFailure: failed.reject,
    });
    try {
      await Promise.race([reader.reached(end), failed.promise]);
    } finally {
      await reader.close();
    }
  }

  /** Null for a record that is no dead letter: it was never one of those that fitted, and holds up none of them. */
  async #read({ topic, partition, offset }: IncomingRecord, bytes: Buffer): Promise<DeadLetter | null> {
    const { connection, letters } = this.#options;
    try {
      await letters.prefetch(bytes);
      return letters.decode(bytes);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      connection.log.warn({ event: "dead_letter_unreadable", topic, partition, offset, err: error });
      return null;
    }
  }

  /** Z6 */
  #isLeftOut(letter: DeadLetter, { key }: IncomingRecord): boolean {
    if (letter.reason === "suppressed") return true;
    const bodyText = () => Buffer.from(letter.body).toString();
    return isDeliverySuppressed(this.#options.suppressed, { delivery: letter, key: key?.toString() ?? null, bodyText });
  }

  /** Z1. Where each URL is on its own, only those that are dead are sent to. */
  #toDelivery(replayId: string, letter: DeadLetter, { topic, partition, offset, key }: IncomingRecord): OutgoingRecord {
    const { names, deliveries, settlesEach } = this.#options;
    const { destinationId, lastAttempt } = letter;
    const urls = settlesEach(destinationId) && lastAttempt.length > 0 ? lastAttempt.map(({ url }) => url) : null;
    const progress = replayedProgress(letter, { replayId, from: `${topic}/${partition}/${offset}`, urls });
    const value = deliveries.encode(replayedDelivery(letter));
    return { topic: names.deliveries, key, value, headers: encodeProgress(progress) };
  }

  #find(id: string): Replay {
    const replay = this.#replays.get(id);
    if (replay === undefined) throw new PosthasteError("internal", `there is no replay ${id}`);
    return replay;
  }

  #change(id: string, change: Partial<Replay>): void {
    this.#replays.set(id, { ...this.#find(id), ...change });
  }
}

function fits({ destinationId, reason, sinceMs = 0, untilMs }: ReplayFilter, letter: DeadLetter): boolean {
  if (letter.deadAtMs < sinceMs || letter.deadAtMs >= untilMs) return false;
  if (destinationId !== undefined && letter.destinationId !== destinationId) return false;
  return reason === undefined || letter.reason === reason;
}
