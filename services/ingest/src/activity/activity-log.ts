/**
 * The activity of each source, as records of `posthaste.source-activity`.
 *
 * Owns: the counts of each source since its last record, a timer that runs only while there are counts, and how many
 * records of each source wait for the brokers.
 * - No request waits for the log, and an accepted call costs it one look-up and a few numbers.
 * AX2  A source has a record every ten seconds at the most; every minute while more than a thousand sources are in use.
 * AX3  Five refused requests of a source are sampled in a minute, and twenty of all unknown senders together; the
 *      samples that are held are bounded over all sources. All senders without a known key count as one source.
 * AX4  At most 60 records of a source wait for the brokers, and 4 MB of all sources. Beyond that a source's counts go
 *      on, and are written once fewer wait: late, and not lost.
 * AX5  At most `MAX_SOURCES` sources are counted at once; further ones are not counted.
 * AX6  Encoding thousands of records does not hold up calls: after every hundred the event loop does everything else.
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
  /** The name that this process drew at its start. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The time between two flushes, in place of ten seconds. */
  readonly flushIntervalMs?: number | undefined;
}

const FLUSH_INTERVAL_MS = 10_000;
/** With more sources in use than this, only every sixth round of the timer flushes. */
const MANY_SOURCES = 1_000;
const FLUSHES_OF_MANY = 6;
const MAX_SOURCES = 20_000;
const MAX_WAITING_RECORDS = 60;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const SAMPLES_A_MINUTE = 5;
const UNKNOWN_SAMPLES_A_MINUTE = 20;
/** The most samples that are held for all sources together: a few KB each at the most. */
const MAX_HELD_SAMPLES = 1_000;
const MINUTE_MS = 60_000;
const STEP_RECORDS = 100;

/** A record for the producer. */
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
  /** How many samples each source has in the current minute. */
  readonly #sampled = new Map<string, number>();
  #minute = 0;
  #heldSamples = 0;
  readonly #waitingRecords = new Map<string, number>();
  #waitingBytes = 0;
  #isClosed = false;

  constructor(parts: ActivityLogParts) {
    this.#parts = parts;
  }

  /** Counts calls of a source that were accepted. */
  accepted(sourceId: string, calls: number): void {
    const nowMs = this.#parts.clock.nowMs();
    this.#countsOf(sourceId, nowMs)?.accepted(calls, nowMs);
  }

  /** Counts a call of a source that was rejected, and that the topic of rejected calls has. */
  rejected(sourceId: string, code: string): void {
    this.#countsOf(sourceId, this.#parts.clock.nowMs())?.rejected(code);
  }

  /**
   * Counts a request that was refused as a whole; `sourceId` is null where no source is known. Calls `read` for the
   * content of the sample, and only when the request becomes one.
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

  /** Gives everything to the producer, whose owner closes it after this. Nothing is counted any more. */
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

  /** Whether a refused request may become a sample (AX3). */
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

  /** Sends the counts in steps of `STEP_RECORDS` records (AX6). Counts that may not be written now go on (AX4). */
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

  /** The record of a source's counts, which then begin at 0; null while too many records wait for the brokers. */
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
