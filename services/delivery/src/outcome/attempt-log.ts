/**
 * The attempt log: attempts packed, many to a record, since a produced record costs about what a POST costs.
 *
 * It never slows the window (rule PK1 of packed-log.ts): an attempt's record is finished without it. Its records have
 * no key, so they go to the partitions one after the other.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { AttemptBatch, AttemptRecord } from "@posthaste/core/delivery/attempt-record";
import type { Log } from "@posthaste/core/log";
import { PackedLog } from "@posthaste/kafka/producer/packed-log";
import type { Producer } from "@posthaste/kafka/producer/producer";

/** Which attempts the log keeps. */
export interface AttemptLogSetting {
  /** True to keep attempts that did not deliver. */
  readonly failures: boolean;
  /** The share of attempts that delivered which the log keeps: 0 to 1. */
  readonly deliveredShare: number;
}

/**
 * Parses `all`, `failures`, `off`, or the share of delivered attempts that is logged beside every failure; undefined
 * for any other text.
 */
export function parseAttemptLogSetting(text: string): AttemptLogSetting | undefined {
  switch (text) {
    case "all":
      return { failures: true, deliveredShare: 1 };
    case "failures":
      return { failures: true, deliveredShare: 0 };
    case "off":
      return { failures: false, deliveredShare: 0 };
  }
  const share = Number(text);
  return /^(0?\.\d+|1(\.0+)?|0)$/.test(text) ? { failures: true, deliveredShare: share } : undefined;
}

const FLUSH_INTERVAL_MS = 200;
/** About 100 KB with one URL and no answer: well under a broker's limit with five of each, see `FLUSH_LENGTH`. */
const FLUSH_ATTEMPTS = 500;
/** Characters of URLs and answers in one record; a broker takes 1 MB. */
const FLUSH_LENGTH = 200_000;
const MAX_PENDING_BYTES = 16 * 1024 * 1024;

export interface AttemptLogOptions {
  readonly setting: AttemptLogSetting;
  readonly producer: Producer;
  readonly topic: string;
  readonly codec: Codec<AttemptBatch>;
  /** 0 up to but not including 1. */
  readonly random: () => number;
  readonly log: Log;
  readonly onDropped: (attempts: number) => void;
}

export class AttemptLog {
  readonly #options: AttemptLogOptions;
  readonly #packed: PackedLog<AttemptRecord, null>;

  constructor(options: AttemptLogOptions) {
    this.#options = options;
    const { producer, topic, codec, log, onDropped } = options;
    this.#packed = new PackedLog({
      producer,
      topic,
      encode: (attempts) => codec.encode({ attempts }),
      flushIntervalMs: FLUSH_INTERVAL_MS,
      flushEntries: FLUSH_ATTEMPTS,
      flushLength: FLUSH_LENGTH,
      maxPendingBytes: MAX_PENDING_BYTES,
      onDropped: (attempts, error) => {
        if (error !== null) log.warn({ event: "attempts_not_logged", err: error, attempts });
        onDropped(attempts);
      },
    });
  }

  /** True when nothing of an attempt with this outcome will be logged, so that it need not be put together. */
  skips(delivered: boolean): boolean {
    const { failures, deliveredShare } = this.#options.setting;
    if (!delivered) return !failures;
    return deliveredShare < 1 && (deliveredShare === 0 || this.#options.random() >= deliveredShare);
  }

  add(attempt: AttemptRecord): void {
    let length = 0;
    for (const { url, answer } of attempt.urls) length += url.length + (answer?.length ?? 0);
    this.#packed.add(null, attempt, length);
  }

  /**
   * Gives what waits to the producer before it returns, and resolves when that was written or given up. Close the
   * producer right after the call, since only the producer's close has an end.
   */
  close(): Promise<void> {
    return this.#packed.close();
  }
}
