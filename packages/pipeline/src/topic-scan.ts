/**
 * Reads the topics themselves, from their starts to their ends, for records that name a message id: slow, and complete.
 *
 * Owns: the one scan that runs.
 * TS1  One scan runs at a time in a process, since it reads every record: a second caller is refused.
 * TS2  A scan ends when its caller leaves, after the records at hand at the latest.
 * - A scan reads the partitions one after the other, each up to where it ended when the scan began: it holds no more
 *   records than one partition hands on at a time.
 */
import { shortName } from "@posthaste/core/routing/short-name";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { readRange } from "@posthaste/kafka/log/read-range";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { ScanFind, ScannedTopic } from "./scanned-topics.ts";

/** The ms between two reports of the scan's progress. */
const PROGRESS_MS = 500;

export interface PlacedFind extends ScanFind {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export interface ScanProgress {
  /** The topic of the records read last. */
  readonly topic: string;
  /** The number of records looked at, out of `of`; `of` includes those that retention removes during the scan. */
  readonly records: number;
  readonly of: number;
  readonly finds: number;
}

/** A step of a scan; its last step is `done`. */
export type ScanStep =
  | { readonly step: "progress" | "done"; readonly progress: ScanProgress }
  | { readonly step: "find"; readonly find: PlacedFind };

export interface TopicScanOptions {
  readonly connection: KafkaConnection;
  readonly topics: () => Promise<readonly ScannedTopic[]>;
  readonly clock: Pick<Clock, "monotonicMs">;
}

export class TopicScan {
  readonly #options: TopicScanOptions;
  /** Names the scan that runs; null while none does. */
  #turn: symbol | null = null;

  constructor(options: TopicScanOptions) {
    this.#options = options;
  }

  /**
   * Null while another scan runs. Otherwise the steps of a new one: it reads on as the caller asks for steps, and ends
   * when the generator returns or `signal` is aborted.
   */
  begin(messageId: string, signal: AbortSignal): AsyncGenerator<ScanStep> | null {
    if (this.#turn !== null) return null;
    const turn = Symbol("scan");
    this.#turn = turn;
    // Where the caller leaves before it asks for the first step, the generator never runs, nor does its `finally`.
    signal.addEventListener("abort", () => this.#end(turn));
    return this.#steps(messageId, { signal, turn });
  }

  #end(turn: symbol): void {
    if (this.#turn === turn) this.#turn = null;
  }

  async *#steps(
    messageId: string,
    { signal, turn }: { readonly signal: AbortSignal; readonly turn: symbol },
  ): AsyncGenerator<ScanStep> {
    const { connection, topics, clock } = this.#options;
    const ids = [...new Set([messageId, shortName(messageId)])].map((text) => Buffer.from(text));
    try {
      const ranges = await rangesOf(connection, await topics());
      const of = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
      let progress: ScanProgress = { topic: ranges[0]?.topic.topic ?? "", records: 0, of, finds: 0 };
      let reportedAtMs = clock.monotonicMs();
      yield { step: "progress", progress };
      for (const { topic, ...range } of ranges) {
        for await (const records of readRange(connection, { ...range, topic: topic.topic }, signal)) {
          const finds = await findsIn(topic, records, { messageId, ids });
          for (const find of finds) yield { step: "find", find };
          const { records: before, finds: found } = progress;
          progress = { topic: topic.topic, records: before + records.length, of, finds: found + finds.length };
          if (clock.monotonicMs() - reportedAtMs < PROGRESS_MS) continue;
          reportedAtMs = clock.monotonicMs();
          yield { step: "progress", progress };
        }
      }
      yield { step: "done", progress };
    } finally {
      this.#end(turn);
    }
  }
}

interface ScannedRange {
  readonly topic: ScannedTopic;
  readonly partition: number;
  readonly start: number;
  readonly end: number;
}

async function rangesOf(
  connection: KafkaConnection,
  topics: readonly ScannedTopic[],
): Promise<readonly ScannedRange[]> {
  const ranges: ScannedRange[] = [];
  for (const topic of topics) {
    for (const range of await topicOffsets(connection, topic.topic)) {
      if (range.end > range.start) ranges.push({ topic, ...range });
    }
  }
  return ranges;
}

interface SoughtId {
  readonly messageId: string;
  /** The id as a record may hold it: whole, and shortened. */
  readonly ids: readonly Buffer[];
}

/**
 * The finds in some records. Nearly every record is about another event: searching its bytes for the id is far cheaper
 * than decoding it.
 */
async function findsIn(
  topic: ScannedTopic,
  records: readonly IncomingRecord[],
  { messageId, ids }: SoughtId,
): Promise<readonly PlacedFind[]> {
  const found: PlacedFind[] = [];
  for (const record of records) {
    const { value, partition, offset } = record;
    if (value === null || !ids.some((id) => value.includes(id))) continue;
    for (const find of await topic.finds(record, messageId))
      found.push({ ...find, topic: record.topic, partition, offset });
  }
  return found;
}
