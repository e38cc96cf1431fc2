/**
 * The brokers' logs, in memory: topics of partitions of records, and a broker's clock that may step.
 *
 * Owns: the records. A record that was appended stays and keeps its offset.
 * ML1  Offsets rise; some are left out, as markers and compaction do (C9).
 */
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { World } from "./world.ts";

export interface LogRecord extends Omit<IncomingRecord, "headers"> {
  readonly headers: Readonly<Record<string, string>>;
  /** On the world's clock. */
  readonly writtenMs: number;
}

export interface NewRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The producer's. */
  readonly timestampMs: number;
}

export class PartitionLog {
  readonly topic: string;
  readonly partition: number;
  readonly records: LogRecord[] = [];
  end = 0;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  /** At most `most` records from `offset` on. */
  from(offset: number, most: number): readonly LogRecord[] {
    let low = 0;
    let high = this.records.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.records[middle]?.offset ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return this.records.slice(low, low + most);
  }
}

export class ModelLog {
  /** How far the brokers' clock is off. */
  clockOffsetMs = 0;
  readonly #world: World;
  readonly #topics = new Map<string, readonly PartitionLog[]>();
  readonly #appendTimeTopics: ReadonlySet<string>;
  readonly #listeners = new Set<(log: PartitionLog, record: LogRecord | null) => void>();

  constructor(world: World, topics: ReadonlyMap<string, number>, appendTimeTopics: ReadonlySet<string>) {
    this.#world = world;
    this.#appendTimeTopics = appendTimeTopics;
    for (const [topic, count] of topics) {
      this.#topics.set(
        topic,
        Array.from({ length: count }, (_, partition) => new PartitionLog(topic, partition)),
      );
    }
  }

  get topics(): readonly string[] {
    return [...this.#topics.keys()];
  }

  /** The topic's partitions; none for a topic that does not exist. */
  partitionsOf(topic: string): readonly PartitionLog[] {
    return this.#topics.get(topic) ?? [];
  }

  partition(topic: string, partition: number): PartitionLog {
    const log = this.partitionsOf(topic)[partition];
    if (log === undefined) throw new Error(`the model has no partition ${partition} of ${topic}`);
    return log;
  }

  append(topic: string, partition: number, { key, value, headers = {}, timestampMs }: NewRecord): LogRecord {
    const log = this.partition(topic, partition);
    const brokerMs = Math.floor(this.#world.dayMs + this.clockOffsetMs);
    const record: LogRecord = {
      topic,
      partition,
      offset: log.end,
      timestampMs: this.#appendTimeTopics.has(topic) ? brokerMs : timestampMs,
      key,
      value,
      headers,
      writtenMs: this.#world.nowMs,
    };
    log.records.push(record);
    log.end += 1;
    for (const listener of this.#listeners) listener(log, record);
    return record;
  }

  /** The next offsets hold no record (ML1). */
  leaveOut(topic: string, partition: number, offsets: number): void {
    const log = this.partition(topic, partition);
    log.end += offsets;
    for (const listener of this.#listeners) listener(log, null);
  }

  /** `listener` is told of every record, and of offsets that hold none; returns how to end that. */
  onAppend(listener: (log: PartitionLog, record: LogRecord | null) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Kafka's own id of a topic; none of the model is ever made anew. Names differ in their ends. */
export function topicIdOf(topic: string): string {
  return Buffer.from(topic.padStart(16).slice(-16)).toString("base64url");
}
