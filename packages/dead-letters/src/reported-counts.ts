/**
 * The counts for plans that are under way, as every control process tells them. A process knows its own counts, and
 * reads the counts of others from the topic.
 *
 * Owns: this process's record of its counts, and the last record of each other process.
 * CT1  Every process tells of a count that takes longer than a second: the process that counts writes each second how
 *      far it is, and removes that when it is done. No count waits for these writes.
 * CT2  Counts of a process of which no record came for ten seconds are not told, since it ended in the middle. Its
 *      record is removed after a minute.
 */
import { randomUUID } from "node:crypto";
import { countingKey } from "@posthaste/contracts/replay-codec";
import type { Log } from "@posthaste/core/log";
import type { PlanCounting } from "@posthaste/core/replay/replay-plan";
import type { Clock } from "@posthaste/core/time";
import type { Planner } from "./planner.ts";
import type { ReplayStore } from "./replay-store.ts";

const WRITE_MS = 1000;
const SEEN_MS = 10_000;
const LEFT_MS = 60_000;

export interface ReportedCount extends PlanCounting {
  /** How many counts its process makes before this one. */
  readonly before: number;
}

export interface ReportedCountsOptions {
  readonly store: () => Pick<ReplayStore, "writeCounting">;
  readonly planner: () => Pick<Planner, "counting">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Log;
}

interface Seen {
  readonly atMs: number;
  readonly counting: readonly PlanCounting[];
}

export class ReportedCounts {
  readonly #options: ReportedCountsOptions;
  readonly #key = countingKey(randomUUID());
  readonly #seen = new Map<string, Seen>();
  /** Before that, the records that are read may be old. */
  #isCaughtUp = false;
  #running = 0;
  #timer: NodeJS.Timeout | undefined;
  #isWritten = false;
  #isWriting = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: ReportedCountsOptions) {
    this.#options = options;
  }

  /** The topic was read to where it ended when this process began. */
  caughtUp(): void {
    this.#isCaughtUp = true;
  }

  /** Notes a record that was read. */
  note(key: string, counting: readonly PlanCounting[] | undefined): void {
    if (key === this.#key) return;
    const atMs = this.#isCaughtUp ? this.#options.clock.monotonicMs() : Number.NEGATIVE_INFINITY;
    if (counting === undefined) this.#seen.delete(key);
    else this.#seen.set(key, { atMs, counting });
  }

  /** All counts, the counts of this process first. */
  all(): readonly ReportedCount[] {
    const lastSeenMs = this.#options.clock.monotonicMs() - SEEN_MS;
    const others = [...this.#seen.values()].filter(({ atMs }) => atMs > lastSeenMs).map(({ counting }) => counting);
    return [this.#options.planner().counting(), ...others].flatMap((counting) =>
      counting.map((each, before) => ({ ...each, before })),
    );
  }

  /** CT1. Tells of the planner's counts while `work` runs. */
  async tellOf<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1;
    this.#timer ??= setInterval(() => this.#write(), WRITE_MS);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#end();
    }
  }

  /** CT2. A process that still counts writes its record again within a second. Ends early once `signal` is aborted. */
  async removeLeft(signal: AbortSignal): Promise<void> {
    const leftMs = this.#options.clock.monotonicMs() - LEFT_MS;
    const left = [...this.#seen].filter(([, { atMs }]) => atMs <= leftMs);
    for (const [key] of left) {
      if (signal.aborted) return;
      await this.#options.store().writeCounting(key, undefined);
    }
  }

  /** Resolves when the writes under way have ended. */
  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.#writing;
  }

  #end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#isWritten) this.#put(undefined);
    this.#isWritten = false;
  }

  /** Writes this process's counts, unless a write is under way. */
  #write(): void {
    if (this.#isWriting) return;
    this.#isWritten = true;
    this.#put(this.#options.planner().counting());
  }

  #put(counting: readonly PlanCounting[] | undefined): void {
    const { store, log } = this.#options;
    this.#isWriting = true;
    this.#writing = this.#writing
      .then(() => store().writeCounting(this.#key, counting))
      .catch((error: unknown) => log.debug({ event: "counting_not_reported", err: error }))
      .finally(() => {
        this.#isWriting = false;
      });
  }
}
