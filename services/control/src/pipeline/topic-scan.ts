/**
 * Reads the topics themselves from their starts to their ends for what names a message id: slow, and certain.
 *
 * Owns: the one scan that runs.
 * TS1  One scan runs at a time in a process: it reads everything that there is. Whoever asks for another is refused.
 * TS2  It ends with whoever asked for it, within the records that are at hand.
 * TS3  Partitions are read one after the other up to where they ended when it began: it holds as much as one of them
 *      hands on at a time.
 */
import { shortName } from "@posthaste/core/routing/short-name";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { readRange } from "../read-range.ts";
import type { ScanFind, ScannedTopic } from "./scanned-topics.ts";

/** Between two words of how far it is. */
const PROGRESS_MS = 500;

export interface PlacedFind extends ScanFind {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export interface ScanProgress {
  /** Read last. */
  readonly topic: string;
  /** Looked at, of how many; records that retention takes meanwhile are among these. */
  readonly records: number;
  readonly of: number;
  readonly finds: number;
}

/** The last one is `done`. */
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
  /** Of the scan that runs. */
  #turn: symbol | null = null;

  constructor(options: TopicScanOptions) {
    this.#options = options;
  }

  /** Null while another runs; else the steps of the scan, which runs as they are asked for and has to be ended. */
  begin(messageId: string, signal: AbortSignal): AsyncGenerator<ScanStep> | null {
    if (this.#turn !== null) return null;
    const turn = Symbol("scan");
    this.#turn = turn;
    // Whoever leaves before the first step is asked for leaves no generator that would end.
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
      let toldAtMs = clock.monotonicMs();
      yield { step: "progress", progress };
      for (const { topic, ...range } of ranges) {
        for await (const records of readRange(connection, { ...range, topic: topic.topic }, signal)) {
          const finds = await findsIn(topic, records, { messageId, ids });
          for (const find of finds) yield { step: "find", find };
          const { records: before, finds: found } = progress;
          progress = { topic: topic.topic, records: before + records.length, of, finds: found + finds.length };
          if (clock.monotonicMs() - toldAtMs < PROGRESS_MS) continue;
          toldAtMs = clock.monotonicMs();
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
  /** As it may stand in a record. */
  readonly ids: readonly Buffer[];
}

/** Nearly every record is another event's, which its bytes tell at a fraction of the cost. */
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
