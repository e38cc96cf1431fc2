/**
 * The attempt log: attempts and first deferrals packed, many to a record, since a produced record costs about what a
 * POST costs.
 *
 * It never slows the window (rule PK1 of packed-log.ts): an attempt's record is finished without it. Its records have
 * no key, so they go to the partitions one after the other.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type {
  AttemptBatch,
  AttemptRecord,
  DeferralRecord,
  LoggedFollowUp,
} from "@posthaste/core/delivery/attempt-record";
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

const NO_URLS: readonly string[] = [];
const FLUSH_INTERVAL_MS = 200;
/** About 130 KB with one URL and no answer: well under a broker's limit with five of each, see `FLUSH_LENGTH`. */
const FLUSH_ATTEMPTS = 500;
/** Characters of URLs, names and answers in one record; a broker takes 1 MB. */
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
  readonly #packed: PackedLog<AttemptRecord | DeferralRecord, null>;

  constructor(options: AttemptLogOptions) {
    this.#options = options;
    const { producer, topic, codec, log, onDropped } = options;
    this.#packed = new PackedLog({
      producer,
      topic,
      encode: (entries) => codec.encode(toBatch(entries)),
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

  /**
   * True when nothing of an attempt with this outcome will be logged, so that it need not be put together. One that
   * `follows` is the end of what the log tells of already, or is expected to: it is never left to chance.
   */
  skips(delivered: boolean, follows: boolean): boolean {
    const { failures, deliveredShare } = this.#options.setting;
    if (!delivered || follows) return !failures;
    return deliveredShare < 1 && (deliveredShare === 0 || this.#options.random() >= deliveredShare);
  }

  /** True when nothing of a deferral will be logged. */
  get skipsDeferrals(): boolean {
    return !this.#options.setting.failures;
  }

  add(attempt: AttemptRecord): void {
    let length = namesLength(attempt);
    for (const { url, answer } of attempt.urls) length += url.length + (answer?.length ?? 0);
    for (const followUp of attempt.followUps) length += urlsLength(followUp);
    this.#packed.add(null, attempt, length);
  }

  addDeferral(deferral: DeferralRecord): void {
    this.#packed.add(null, deferral, namesLength(deferral) + urlsLength(deferral));
  }

  /**
   * Gives what waits to the producer before it returns, and resolves when that was written or given up. Close the
   * producer right after the call, since only the producer's close has an end.
   */
  close(): Promise<void> {
    return this.#packed.close();
  }
}

function toBatch(entries: readonly (AttemptRecord | DeferralRecord)[]): AttemptBatch {
  const deferrals: DeferralRecord[] = [];
  const attempts: AttemptRecord[] = [];
  for (const entry of entries) {
    if ("cause" in entry) deferrals.push(entry);
    else attempts.push(entry);
  }
  return { attempts, deferrals };
}

function namesLength({ messageId, userKey, event }: Pick<AttemptRecord, "messageId" | "userKey" | "event">): number {
  return messageId.length + (userKey?.length ?? 0) + (event?.length ?? 0);
}

function urlsLength({ urls }: Pick<LoggedFollowUp, "urls">): number {
  let length = 0;
  for (const url of urls ?? NO_URLS) length += url.length;
  return length;
}
