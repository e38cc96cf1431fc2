/**
 * Commits the committable offsets of the owned partitions, again and again.
 *
 * Owns: one timer, which runs from `start` to `stop`, and the one commit that may be outstanding (C10). The committer
 * is
 * - *awake* while the timer is set to `intervalMs`: something changed, or a commit is outstanding;
 * - *asleep* while the timer is set to the next forced commit (K3). It falls asleep as it sends a commit; `changed`
 *   wakes it.
 * K1  One commit covers every partition that changed. Commits are periodic: never one for each batch (C9).
 * K2  When the brokers refuse a commit, the committer commits the partitions that it covered again.
 * K3  The committer commits every partition at least every `FORCED_COMMIT_MS`, changed or not. That shows that the
 *     brokers take commits, and it overwrites a commit of a former owner that landed late (C6). A gained partition is
 *     due at once.
 * K4  A change is in a commit within `intervalMs`, or within `intervalMs` of the answer to a commit that is
 *     outstanding. Without changes only K3 wakes the process.
 */
import type { Clock } from "@posthaste/core/time";
import type { CommitPoint, GroupSession } from "./group-session.ts";

const FORCED_COMMIT_MS = 5000;

/**
 * An owned partition, as the committer uses it. Its owner calls `changed` when `commitPoint(false)` starts to return a
 * point.
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
  /** The brokers did not accept a commit, for this reason. `failures` counts such commits in a row. */
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

  /**
   * Tells the committer that an owned partition has something new to commit (K4). Cheap while the committer is awake.
   */
  changed(): void {
    if (!this.#isAsleep || this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#wakeAfter(this.#options.intervalMs);
  }

  /**
   * Tells the committer of a JOIN: a commit that is still outstanding names an older generation, so it waits for none.
   */
  joined(): void {
    this.#outstanding = null;
  }

  /** Resolves when the brokers accepted or refused a commit of everything that is finished at the call. */
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
    // From here on `changed` wakes the committer: for new changes, and for this commit's partitions if it is refused.
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
