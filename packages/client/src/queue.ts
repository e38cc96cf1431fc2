/**
 * Owns every batch that was closed and has not come to its end: delivered, or handed to `onError`.
 *
 * - A call comes to its end exactly once.
 * CQ2  Batches are begun in the order in which they were closed, and at most `maxInFlight` are between their first
 *      request and their end. A batch that waits for its retry keeps its place, so a server that is down hears from
 *      few.
 * CQ3  A Retry-After holds back all batches, since it is the client as a whole that was too much.
 * CQ4  After `abandon` no request begins, and every batch comes to its end at once.
 */
import type { Batch } from "./batch.ts";
import type { Environment } from "./environment.ts";
import { AnalyticsError } from "./errors.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Reporter } from "./reporter.ts";
import { judge, type Verdict } from "./retry.ts";
import type { Transport } from "./transport.ts";

export interface QueueParts {
  readonly options: ResolvedOptions;
  readonly environment: Environment;
  readonly transport: Transport;
  readonly reporter: Reporter;
  /** Called once for each batch, when it has come to its end. */
  readonly onEnd: (batch: Batch) => void;
}

/** The final result of a batch. */
type FinalVerdict = Exclude<Verdict, { kind: "retry" }>;

interface End {
  readonly reached: Promise<void>;
  readonly reach: () => void;
}

export class Queue {
  readonly #parts: QueueParts;
  /** Closed and not begun, oldest first. */
  readonly #waiting = new Set<Batch>();
  /** Closed and not at its end. */
  readonly #ends = new Map<Batch, End>();
  readonly #abandoned = new AbortController();
  #workers = 0;
  #heldUntilMs = 0;

  constructor(parts: QueueParts) {
    this.#parts = parts;
  }

  /** Takes a batch over. Its first request begins after the caller's own turn, so that no call pays for a request. */
  push(batch: Batch): void {
    this.#waiting.add(batch);
    this.#ends.set(batch, createEnd());
    if (this.#workers >= this.#parts.options.maxInFlight) return;
    this.#workers += 1;
    queueMicrotask(() => void this.#work());
  }

  /** Resolves when every batch that was pushed until now has come to its end. */
  async settled(): Promise<void> {
    await Promise.all(Array.from(this.#ends.values(), (end) => end.reached));
  }

  /**
   * Hands the undelivered calls to `onError` with the code `closed`. Requests in flight are broken off: their calls may
   * still arrive.
   */
  abandon(): void {
    this.#abandoned.abort();
  }

  async #work(): Promise<void> {
    for (;;) {
      const [batch] = this.#waiting;
      if (batch === undefined) break;
      this.#waiting.delete(batch);
      this.#report(batch, await this.#deliver(batch));
      this.#parts.onEnd(batch);
      this.#ends.get(batch)?.reach();
      this.#ends.delete(batch);
    }
    this.#workers -= 1;
  }

  /** Sends the batch until the answer settles it or the attempts are used up. Never rejects. */
  async #deliver(batch: Batch): Promise<FinalVerdict> {
    const { options, environment, transport } = this.#parts;
    for (let attempts = 0; ; ) {
      await this.#whileHeld();
      if (this.#abandoned.signal.aborted) return { kind: "failed", error: closedError(attempts) };
      attempts += 1;
      const attempt = await transport(batch.body(environment.nowMs()), this.#abandoned.signal);
      const verdict = judge(
        attempt,
        { attempts, maxAttempts: options.maxAttempts },
        environment.nowMs(),
        environment.random(),
      );
      if (verdict.kind !== "retry") return verdict;
      environment.debug?.(`analytics: ${verdict.reason}, attempt ${attempts + 1} in ${verdict.delayMs} ms`);
      this.#heldUntilMs = Math.max(this.#heldUntilMs, environment.nowMs() + verdict.holdMs);
      await this.#sleep(verdict.delayMs);
    }
  }

  async #whileHeld(): Promise<void> {
    for (;;) {
      const leftMs = this.#heldUntilMs - this.#parts.environment.nowMs();
      if (leftMs <= 0 || this.#abandoned.signal.aborted) return;
      await this.#sleep(leftMs);
    }
  }

  /** Resolves after `delayMs`, or at once when the queue is abandoned. */
  #sleep(delayMs: number): Promise<void> {
    const { signal } = this.#abandoned;
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const cancel = this.#parts.environment.schedule(delayMs, wake);
      signal.addEventListener("abort", wake);
      if (signal.aborted) wake();
    });
  }

  #report(batch: Batch, verdict: FinalVerdict): void {
    const { reporter } = this.#parts;
    if (verdict.kind === "failed") {
      reporter.failed(verdict.error, batch.texts);
      return;
    }
    const rejected = new Map(verdict.rejected.map(({ index, error }) => [index, error]));
    reporter.delivered(batch.texts.filter((_, index) => !rejected.has(index)));
    for (const [index, error] of rejected) {
      const text = batch.texts[index];
      if (text !== undefined) reporter.failed(error, [text]);
    }
  }
}

function createEnd(): End {
  let reach: () => void = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return { reached, reach };
}

function closedError(attempts: number): AnalyticsError {
  return new AnalyticsError("closed", "the client was closed before the calls were delivered", { attempts });
}
