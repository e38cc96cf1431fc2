/**
 * The partitions that a producer could not write when it last tried, and when each is tried again (P2). Pure.
 *
 * Owns: a trouble for each such partition, from its first failure to its next success. Its `leaders` are
 * - *unasked* from each failure until the pause is over and the sender asks the brokers for the leaders;
 * - *asked* until the brokers answer;
 * - *known* from then on: the partition may be sent.
 * PT1  A partition that failed is tried again by itself, after a pause that grows with each failure: its failure says
 *      nothing about other partitions.
 * PT2  A partition whose send timed out, or whose broker waited in vain for its replicas, goes in a request of its own
 *      until it succeeds. Each timeout doubles its deadline. Otherwise a slow cluster would lose every request just
 *      before its answer, for ever.
 * PT3  When a partition's pause is over, the brokers are asked for the leaders. The partition is tried again when they
 *      have answered, or after `LEADERS_PATIENCE_MS` without an answer.
 */
import { retryPauseMs } from "../connection/deadline.ts";
import { isSampledFailure } from "../connection/log-sampling.ts";
import type { PartitionQueue } from "./partition-queue.ts";

export const FIRST_SEND_DEADLINE_MS = 10_000;
export const LAST_SEND_DEADLINE_MS = 60_000;
export const LEADERS_PATIENCE_MS = 2000;

export interface Trouble {
  readonly failures: number;
  /** Whether the partition goes in a request of its own (PT2). */
  readonly isTimeout: boolean;
  /** The deadline of its next request, in ms. */
  readonly deadlineMs: number;
  /** When its pause ends; once the brokers were asked, when the patience for their answer ends (PT3). */
  dueAtMs: number;
  leaders: "unasked" | "asked" | "known";
}

/** The next step for a partition: wait until `waitsUntilMs`, ask for the leaders, or send. */
export type NextStep = { readonly waitsUntilMs: number } | "ask" | "send";

export class PartitionTroubles {
  readonly #troubles = new Map<PartitionQueue, Trouble>();

  get size(): number {
    return this.#troubles.size;
  }

  of(queue: PartitionQueue): Trouble | undefined {
    return this.#troubles.get(queue);
  }

  /** The deadline of the partition's next request, in ms. */
  deadlineMsOf(queue: PartitionQueue): number {
    return this.#troubles.get(queue)?.deadlineMs ?? FIRST_SEND_DEADLINE_MS;
  }

  nextStep(queue: PartitionQueue, nowMs: number): NextStep {
    const trouble = this.#troubles.get(queue);
    if (trouble === undefined || trouble.leaders === "known") return "send";
    if (trouble.dueAtMs > nowMs) return { waitsUntilMs: trouble.dueAtMs };
    return trouble.leaders === "unasked" ? "ask" : "send";
  }

  /** From now on these partitions wait for the leaders (PT3). */
  asked(queues: readonly PartitionQueue[], nowMs: number): void {
    for (const queue of queues) {
      const trouble = this.#troubles.get(queue);
      if (trouble === undefined) continue;
      trouble.leaders = "asked";
      trouble.dueAtMs = nowMs + LEADERS_PATIENCE_MS;
    }
  }

  /**
   * A question for the leaders goes out for all partitions that wait for one. The caller calls the returned function
   * when it was answered (PT3).
   */
  asking(): () => void {
    const troubles = [...this.#troubles.values()].filter(({ leaders }) => leaders === "asked");
    return () => {
      for (const trouble of troubles) trouble.leaders = "known";
    };
  }

  /** The partition failed: returns its trouble, whose pause begins now (PT1). */
  failed(queue: PartitionQueue, isTimeout: boolean, nowMs: number): Trouble {
    const before = this.#troubles.get(queue);
    const failures = (before?.failures ?? 0) + 1;
    const deadlineMs = this.deadlineMsOf(queue);
    const trouble: Trouble = {
      failures,
      isTimeout: isTimeout || (before?.isTimeout ?? false),
      deadlineMs: isTimeout ? Math.min(2 * deadlineMs, LAST_SEND_DEADLINE_MS) : deadlineMs,
      dueAtMs: nowMs + retryPauseMs(failures),
      leaders: "unasked",
    };
    this.#troubles.set(queue, trouble);
    return trouble;
  }

  /** A broker wrote or refused the partition's records. True when no other partition is in trouble. */
  succeeded(queue: PartitionQueue): boolean {
    return this.#troubles.delete(queue) && this.#troubles.size === 0;
  }

  /** Whether to log failures that came together: true when one of them is to be logged. */
  static isLogged(troubles: readonly Trouble[]): boolean {
    return troubles.some(({ failures }) => isSampledFailure(failures));
  }
}
