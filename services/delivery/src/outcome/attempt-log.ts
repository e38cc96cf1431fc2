/**
 * The attempt log: attempts and first deferrals, many packed into one record, since producing a record costs about as
 * much as a POST.
 *
 * No window waits for the log (rule PK1 of packed-log.ts): a delivery's record is finished whether its attempt was
 * logged or not. The log's records have no key, so they go to the partitions in turn.
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
  /** Whether the log keeps attempts that did not deliver. */
  readonly failures: boolean;
  /** The share, from 0 to 1, of the attempts that delivered which the log keeps. */
  readonly deliveredShare: number;
}

/**
 * Parses `all`, `failures`, `off`, or the share of delivered attempts to log beside every failure; undefined for any
 * other text.
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
/**
 * The most entries of one record: about 130 KB with one URL each and no answer. `FLUSH_LENGTH` bounds longer entries.
 */
const FLUSH_ATTEMPTS = 500;
/** The most characters of URLs, names and answers in one record; a broker takes a record of 1 MB. */
const FLUSH_LENGTH = 200_000;
const MAX_PENDING_BYTES = 16 * 1024 * 1024;

export interface AttemptLogOptions {
  readonly setting: AttemptLogSetting;
  readonly producer: Producer;
  readonly topic: string;
  readonly codec: Codec<AttemptBatch>;
  /** Returns at least 0 and below 1. */
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
   * True when an attempt with this outcome is not logged, so that its record need not be made. `follows`: the log has,
   * or a reader expects, an entry that this attempt is the end of, so that it is never left to chance.
   */
  skips(delivered: boolean, follows: boolean): boolean {
    const { failures, deliveredShare } = this.#options.setting;
    if (!delivered || follows) return !failures;
    return deliveredShare < 1 && (deliveredShare === 0 || this.#options.random() >= deliveredShare);
  }

  /** True when no deferral is logged. */
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
   * Gives the entries that wait to the producer before it returns, and resolves when they were written or given up.
   * Close the producer right after the call, since only the producer's close has a deadline.
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
