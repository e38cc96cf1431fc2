/**
 * The partitions that could not be written when it was last tried, and when each is tried again (P2). Pure.
 *
 * Owns: a trouble for each of them, from its first failure to its next success.
 * U1  A partition that failed is tried again after a pause that grows, on its own: it says nothing about the others.
 * U2  One that was silent, whose replicas its broker waited for in vain, goes in a request of its own until it succeeds, with
 *     a deadline that doubles, so that a slow cluster is no livelock.
 * U3  When its pause is over the brokers are asked who leads, and it is tried again with their answer, or after
 *     `LEADERS_PATIENCE_MS` without.
 */
import { retryPauseMs } from "../connection/deadline.ts";
import { isSampledFailure } from "../connection/log-sampling.ts";
import type { PartitionQueue } from "./partition-queue.ts";

export const FIRST_SEND_DEADLINE_MS = 10_000;
export const LAST_SEND_DEADLINE_MS = 60_000;
export const LEADERS_PATIENCE_MS = 2000;

export interface Trouble {
  readonly failures: number;
  /** U2. */
  readonly isSilent: boolean;
  /** For its next request. */
  readonly deadlineMs: number;
  /** The end of its pause, and of its patience once the brokers were asked (U3). */
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

  /** The brokers are to be asked, from now on (U3). */
  asked(queues: readonly PartitionQueue[], nowMs: number): void {
    for (const queue of queues) {
      const trouble = this.#troubles.get(queue);
      if (trouble === undefined) continue;
      trouble.leaders = "asked";
      trouble.dueAtMs = nowMs + LEADERS_PATIENCE_MS;
    }
  }

  /** A question goes out for all that wait for one; answers what is to be called with its answer (U3). */
  asking(): () => void {
    const troubles = [...this.#troubles.values()].filter(({ leaders }) => leaders === "asked");
    return () => {
      for (const trouble of troubles) trouble.leaders = "known";
    };
  }

  /** It failed; U1. */
  failed(queue: PartitionQueue, isSilent: boolean, nowMs: number): Trouble {
    const before = this.#troubles.get(queue);
    const failures = (before?.failures ?? 0) + 1;
    const deadlineMs = this.deadlineMsOf(queue);
    const trouble: Trouble = {
      failures,
      isSilent: isSilent || (before?.isSilent ?? false),
      deadlineMs: isSilent ? Math.min(2 * deadlineMs, LAST_SEND_DEADLINE_MS) : deadlineMs,
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
