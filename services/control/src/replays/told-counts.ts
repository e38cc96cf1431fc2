/**
 * What is counted for plans, as every control process tells it: its own counts, and by the topic those of others.
 *
 * Owns: this process's record of its counts, and what was last heard of the others'.
 * CT1  A count that takes longer than a second is told at every process: the one that makes it writes how far it is
 *      each second, and takes that back when it is over. A count does not wait for it.
 * CT2  Of a process that was not heard of for ten seconds nothing is told: it has ended in the middle. What it left is
 *      removed after a minute.
 */
import { randomUUID } from "node:crypto";
import { countingKey } from "@posthaste/contracts/replay-codec";
import type { Log } from "@posthaste/core/log";
import type { PlanCounting } from "@posthaste/core/replay/replay-plan";
import type { Clock } from "@posthaste/core/time";
import type { Planner } from "./planner.ts";
import type { ReplayStore } from "./replay-store.ts";

const WRITE_MS = 1000;
const HEARD_MS = 10_000;
const LEFT_MS = 60_000;

export interface ToldCount extends PlanCounting {
  /** Counts that its process makes first. */
  readonly before: number;
}

export interface ToldCountsOptions {
  readonly store: () => Pick<ReplayStore, "writeCounting">;
  readonly planner: () => Pick<Planner, "counting">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Log;
}

interface Heard {
  readonly atMs: number;
  readonly counting: readonly PlanCounting[];
}

export class ToldCounts {
  readonly #options: ToldCountsOptions;
  readonly #key = countingKey(randomUUID());
  readonly #heard = new Map<string, Heard>();
  /** Until then records are read that may be of long ago. */
  #isCaughtUp = false;
  #running = 0;
  #timer: NodeJS.Timeout | undefined;
  #isWritten = false;
  #isWriting = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: ToldCountsOptions) {
    this.#options = options;
  }

  /** What the topic held when this process began was read. */
  caughtUp(): void {
    this.#isCaughtUp = true;
  }

  /** A record was read. */
  note(key: string, counting: readonly PlanCounting[] | undefined): void {
    if (key === this.#key) return;
    const atMs = this.#isCaughtUp ? this.#options.clock.monotonicMs() : Number.NEGATIVE_INFINITY;
    if (counting === undefined) this.#heard.delete(key);
    else this.#heard.set(key, { atMs, counting });
  }

  /** Those of this process first. */
  all(): readonly ToldCount[] {
    const heardMs = this.#options.clock.monotonicMs() - HEARD_MS;
    const others = [...this.#heard.values()].filter(({ atMs }) => atMs > heardMs).map(({ counting }) => counting);
    return [this.#options.planner().counting(), ...others].flatMap((counting) =>
      counting.map((each, before) => ({ ...each, before })),
    );
  }

  /** CT1: of what the planner counts for `work`. */
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

  /** CT2. Of one that is counted all the same, the next second writes it again. */
  async removeLeft(): Promise<void> {
    const leftMs = this.#options.clock.monotonicMs() - LEFT_MS;
    const left = [...this.#heard].filter(([, { atMs }]) => atMs <= leftMs);
    for (const [key] of left) await this.#options.store().writeCounting(key, undefined);
  }

  /** Resolves when what was to be written is. */
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

  /** Brokers that take nothing are asked once. */
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
      .catch((error: unknown) => log.debug({ event: "counting_not_told", err: error }))
      .finally(() => {
        this.#isWriting = false;
      });
  }
}
