/**
 * Commits the committable offsets of the owned partitions, again and again.
 *
 * Owns: one timer, and the one commit that may be outstanding (C10). From `start` to `stop` the timer always runs. The
 * committer is
 * - *awake* when the timer ends after `intervalMs`: something may have changed, or a commit is outstanding;
 * - *asleep* when the timer ends with the next forced commit (K3). `changed` wakes the committer.
 * K1  One commit covers every partition that changed. Commits are periodic: never one for each batch (C9).
 * K2  When a commit was not accepted, what it covered is due again.
 * K3  Every partition is committed at least every `FORCED_COMMIT_MS`, changed or not. So the group is seen to take
 *     commits, and a commit of a former owner that landed late is put right (C6). A gained partition is due at once.
 * K4  What changes is in a commit `intervalMs` later, or as much after the answer to the commit that is then
 *     outstanding. While nothing changes the process is not woken, but for K3.
 */
import type { Clock } from "@posthaste/core/time";
import type { CommitPoint, GroupSession } from "./group-session.ts";

const FORCED_COMMIT_MS = 5000;

/**
 * What the committer asks of an owned partition. Whoever owns the partition calls `changed` whenever `commitPoint`
 * would answer something without force that it did not before.
 */
export interface Committable {
  commitPoint(forced: boolean): CommitPoint | null;
  commitFailed(): void;
}

export interface CommitterOptions {
  readonly session: Pick<GroupSession, "commit">;
  readonly owned: () => readonly Committable[];
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly onCommitted: () => void;
  /** A commit was not accepted, and why; `failures` counts those in a row. */
  readonly onFailed: (reason: unknown, failures: number) => void;
}

export class Committer {
  readonly #options: CommitterOptions;
  #timer: NodeJS.Timeout | undefined;
  #isAsleep = false;
  #outstanding: Promise<void> | null = null;
  #forcedAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#timer === undefined) this.#wakeAfter(this.#options.intervalMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** An owned partition has something new to commit (K4). Cheap while the committer is awake. */
  changed(): void {
    if (!this.#isAsleep || this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#wakeAfter(this.#options.intervalMs);
  }

  /** The group was joined anew: a commit that is still outstanding belongs to the past and is not waited for. */
  joined(): void {
    this.#outstanding = null;
  }

  /** Resolves when what stands finished now was committed, or refused. */
  async flush(): Promise<void> {
    await this.#outstanding;
    await this.#commit();
  }

  #wakeAfter(ms: number): void {
    this.#isAsleep = false;
    this.#timer = setTimeout(() => this.#onTimer(), ms);
  }

  #onTimer(): void {
    const { intervalMs } = this.#options;
    if (this.#outstanding !== null) {
      this.#wakeAfter(intervalMs);
      return;
    }
    this.#wakeAfter(Math.max(intervalMs, this.#msUntilForced()));
    this.#isAsleep = true;
    // What changes from here on, and what this commit covers should it be refused, wakes the committer.
    void this.#commit();
  }

  #msUntilForced(): number {
    const passedMs = this.#options.clock.monotonicMs() - this.#forcedAtMs;
    return passedMs >= FORCED_COMMIT_MS ? FORCED_COMMIT_MS : FORCED_COMMIT_MS - passedMs;
  }

  #commit(): Promise<void> {
    const { owned, clock, session, onCommitted, onFailed } = this.#options;
    const forced = clock.monotonicMs() - this.#forcedAtMs >= FORCED_COMMIT_MS;
    const covered: Committable[] = [];
    const points: CommitPoint[] = [];
    for (const each of owned()) {
      const point = each.commitPoint(forced);
      if (point === null) continue;
      covered.push(each);
      points.push(point);
    }
    if (points.length === 0) return Promise.resolve();
    const outstanding = session.commit(points).then((refusal) => {
      if (this.#outstanding === outstanding) this.#outstanding = null;
      if (refusal === null) {
        this.#failures = 0;
        if (forced) this.#forcedAtMs = clock.monotonicMs();
        onCommitted();
      } else {
        for (const each of covered) each.commitFailed();
        this.#failures += 1;
        onFailed(refusal, this.#failures);
      }
    });
    this.#outstanding = outstanding;
    return outstanding;
  }
}
