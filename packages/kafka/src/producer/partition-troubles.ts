/**
 * The partitions that could not be written when a producer last tried, and when each is tried again (P2). Pure.
 *
 * Owns: a trouble for each of these partitions, from its first failure to its next success.
 * PT1  A partition that failed is tried again by itself, after a pause that grows: its failure says nothing about the
 *      others.
 * PT2  A partition whose send timed out, or whose broker waited for its replicas in vain, goes in a request of its own
 *      until it succeeds. Each timeout doubles its deadline, so that a slow cluster is no livelock.
 * PT3  When the pause of a partition is over, the brokers are asked who leads. The partition is tried again when they
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
  /** PT2. */
  readonly isTimeout: boolean;
  /** For its next request. */
  readonly deadlineMs: number;
  /** The end of its pause, and of its patience once the brokers were asked (PT3). */
  dueAtMs: number;
  leaders: "unasked" | "asked" | "known";
}

/** What is to be done about a partition now: nothing before `dueAtMs`, asking who leads, or sending. */
export type NextStep = { readonly waitsUntilMs: number } | "ask" | "send";

export class PartitionTroubles {
  readonly #troubles = new Map<PartitionQueue, Trouble>();

  get size(): number {
    return this.#troubles.size;
  }

  of(queue: PartitionQueue): Trouble | undefined {
    return this.#troubles.get(queue);
  }

  /** How long its next request may take. */
  deadlineMsOf(queue: PartitionQueue): number {
    return this.#troubles.get(queue)?.deadlineMs ?? FIRST_SEND_DEADLINE_MS;
  }

  nextStep(queue: PartitionQueue, nowMs: number): NextStep {
    const trouble = this.#troubles.get(queue);
    if (trouble === undefined || trouble.leaders === "known") return "send";
    if (trouble.dueAtMs > nowMs) return { waitsUntilMs: trouble.dueAtMs };
    return trouble.leaders === "unasked" ? "ask" : "send";
  }

  /** The brokers are to be asked, from now on (PT3). */
  asked(queues: readonly PartitionQueue[], nowMs: number): void {
    for (const queue of queues) {
      const trouble = this.#troubles.get(queue);
      if (trouble === undefined) continue;
      trouble.leaders = "asked";
      trouble.dueAtMs = nowMs + LEADERS_PATIENCE_MS;
    }
  }

  /** A question goes out for all that wait for one; answers what is to be called with its answer (PT3). */
  asking(): () => void {
    const troubles = [...this.#troubles.values()].filter(({ leaders }) => leaders === "asked");
    return () => {
      for (const trouble of troubles) trouble.leaders = "known";
    };
  }

  /** It failed; PT1. */
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

  /** A broker took or refused its records. True when it was the last in trouble. */
  succeeded(queue: PartitionQueue): boolean {
    return this.#troubles.delete(queue) && this.#troubles.size === 0;
  }

  /** Whether the failure is worth a log line, of those that came at once. */
  static isLine(troubles: readonly Trouble[]): boolean {
    return troubles.some(({ failures }) => isSampledFailure(failures));
  }
}
