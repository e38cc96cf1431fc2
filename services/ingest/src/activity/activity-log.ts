/**
 * What each source sent and what became of it, as records of `posthaste.source-activity`.
 *
 * Owns the counts since the last flush, by source; a timer that runs only while there are some; and how many records
 * of each source wait for the brokers.
 * AX1  Nothing waits for it, and a call that is taken costs it one look-up and a few numbers.
 * AX2  A record of a source at most every ten seconds, every minute while more than a thousand sources are in use.
 * AX3  Of each source five refused requests a minute are told and no more, of those whose source is unknown twenty
 *      together; what they hold is bounded over all sources. Whoever has no key adds to one source alone.
 * AX4  At most 60 records of a source wait for the brokers, and 4 MB of all. Beyond that a source's counts go on, and
 *      are written when there is room again: they are late, not lost.
 * AX5  So many sources are counted between two flushes and no more.
 * AX6  Encoding thousands of records does not hold up the calls: between each hundred everything else is heard.
 */
import { type SourceActivity, UNKNOWN_SOURCE_ID } from "@posthaste/core/call/source-activity";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { Producer } from "@posthaste/kafka/producer/producer";
import type { Refusal } from "../answer/answer.ts";
import { type RefusedContent, toRefusedRequest } from "./refused-request.ts";
import { SourceCounts } from "./source-counts.ts";

export interface ActivityLogParts {
  readonly producer: Pick<Producer, "send">;
  readonly topic: string;
  readonly encode: (activity: SourceActivity) => Buffer;
  /** Of this process. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Instead of ten seconds. */
  readonly flushIntervalMs?: number | undefined;
}

const FLUSH_INTERVAL_MS = 10_000;
/** Sources in use beyond which it is every sixth flush. */
const MANY_SOURCES = 1_000;
const FLUSHES_OF_MANY = 6;
const MAX_SOURCES = 20_000;
const MAX_WAITING_RECORDS = 60;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const SAMPLES_A_MINUTE = 5;
const UNKNOWN_SAMPLES_A_MINUTE = 20;
/** Requests that are held of all sources together until the next flush: some kilobytes each at the most. */
const MAX_HELD_SAMPLES = 1_000;
const MINUTE_MS = 60_000;
const STEP_RECORDS = 100;

/** What is handed to the producer. */
interface ActivityRecord {
  readonly topic: string;
  readonly key: string;
  readonly value: Buffer;
}

export class ActivityLog {
  readonly #parts: ActivityLogParts;
  readonly #counts = new Map<string, SourceCounts>();
  #timer: NodeJS.Timeout | null = null;
  /** How many times the timer ran since the last flush. */
  #rounds = 0;
  /** Samples of each source in the running minute. */
  readonly #sampled = new Map<string, number>();
  #minute = 0;
  #heldSamples = 0;
  readonly #waitingRecords = new Map<string, number>();
  #waitingBytes = 0;
  #isClosed = false;

  constructor(parts: ActivityLogParts) {
    this.#parts = parts;
  }

  /** So many calls of a source were taken. */
  accepted(sourceId: string, calls: number): void {
    const nowMs = this.#parts.clock.nowMs();
    this.#countsOf(sourceId, nowMs)?.accepted(calls, nowMs);
  }

  /** A call of a source was not taken, and stands in the topic of rejected calls. */
  rejected(sourceId: string, code: string): void {
    this.#countsOf(sourceId, this.#parts.clock.nowMs())?.rejected(code);
  }

  /**
   * A request was refused as a whole; `sourceId` is null where nobody's key was found. `read` is asked for what is told
   * of the request, and only when that is.
   */
  refused(sourceId: string | null, refusal: Refusal, read: () => RefusedContent): void {
    const nowMs = this.#parts.clock.nowMs();
    const id = sourceId ?? UNKNOWN_SOURCE_ID;
    const counts = this.#countsOf(id, nowMs);
    if (counts === undefined) return;
    counts.refused(refusal.code);
    if (!this.#maySample(id, counts)) return;
    counts.addSample(toRefusedRequest(refusal, read(), nowMs));
    this.#heldSamples++;
    this.#sampled.set(id, (this.#sampled.get(id) ?? 0) + 1);
  }

  /** Hands everything to the producer, which its owner closes after this; nothing is counted any more. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const flush = this.#flush();
    while (flush.next().done !== true);
  }

  #countsOf(sourceId: string, nowMs: number): SourceCounts | undefined {
    let counts = this.#counts.get(sourceId);
    if (counts === undefined) {
      if (this.#isClosed || this.#counts.size >= MAX_SOURCES) return undefined;
      counts = new SourceCounts(nowMs);
      this.#counts.set(sourceId, counts);
      this.#timer ??= this.#inAWhile();
    }
    return counts;
  }

  /** Asked before each sample (AX3). */
  #maySample(sourceId: string, counts: SourceCounts): boolean {
    const minute = Math.floor(this.#parts.clock.monotonicMs() / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#sampled.clear();
    }
    const most = sourceId === UNKNOWN_SOURCE_ID ? UNKNOWN_SAMPLES_A_MINUTE : SAMPLES_A_MINUTE;
    const sampled = Math.max(counts.samples, this.#sampled.get(sourceId) ?? 0);
    return sampled < most && this.#heldSamples < MAX_HELD_SAMPLES;
  }

  #inAWhile(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = null;
      this.#rounds++;
      if (this.#counts.size <= MANY_SOURCES || this.#rounds >= FLUSHES_OF_MANY) this.#goOn(this.#flush());
      else this.#timer = this.#inAWhile();
    }, this.#parts.flushIntervalMs ?? FLUSH_INTERVAL_MS);
  }

  #goOn(flush: Generator<void, void>): void {
    if (flush.next().done !== true) setImmediate(() => this.#goOn(flush));
    else if (this.#counts.size > 0 && !this.#isClosed) this.#timer ??= this.#inAWhile();
  }

  /** In steps of so many records (AX6). What may not be written now stays, and is counted on (AX4). */
  *#flush(): Generator<void, void> {
    this.#rounds = 0;
    let records: ActivityRecord[] = [];
    for (const sourceId of [...this.#counts.keys()]) {
      const record = this.#takeRecord(sourceId);
      if (record !== null) records.push(record);
      if (records.length < STEP_RECORDS) continue;
      this.#send(records);
      records = [];
      yield;
    }
    this.#send(records);
  }

  /** The record of a source's counts, which begin anew; null while its records wait for the brokers. */
  #takeRecord(sourceId: string): ActivityRecord | null {
    const counts = this.#counts.get(sourceId);
    const waiting = this.#waitingRecords.get(sourceId) ?? 0;
    if (counts === undefined || waiting >= MAX_WAITING_RECORDS || this.#waitingBytes >= MAX_WAITING_BYTES) return null;
    this.#counts.delete(sourceId);
    this.#heldSamples -= counts.samples;
    const { encode, topic, instance, clock } = this.#parts;
    const value = encode(counts.toRecord(sourceId, instance, clock.nowMs()));
    this.#waitingRecords.set(sourceId, waiting + 1);
    this.#waitingBytes += value.length;
    return { topic, key: sourceId, value };
  }

  #send(records: readonly ActivityRecord[]): void {
    if (records.length === 0) return;
    const { producer, log } = this.#parts;
    const settled = () => {
      for (const record of records) this.#waitsNoLonger(record);
    };
    producer.send(records).then(settled, (err: unknown) => {
      settled();
      log.warn({ event: "source_activity_not_written", records: records.length, err });
    });
  }

  #waitsNoLonger({ key, value }: ActivityRecord): void {
    const waiting = (this.#waitingRecords.get(key) ?? 0) - 1;
    if (waiting > 0) this.#waitingRecords.set(key, waiting);
    else this.#waitingRecords.delete(key);
    this.#waitingBytes -= value.length;
  }
}
