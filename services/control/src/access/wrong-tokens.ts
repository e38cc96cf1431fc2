/**
 * How often an address came with a wrong token: after ten in a minute whatever it sends is refused unread, so that a
 * token that can be guessed takes longer to guess. Of one process: another one counts for itself. Sessions that nobody
 * knows have a count of their own (CS4 of
 * token-callers.ts).
 *
 * Owns: a count for each address of the last minute.
 * WT1  What is refused for this is not looked at, and counts for nothing.
 * WT2  At most `MOST_ADDRESSES` are known; then the ones that came first are forgotten.
 */
import type { Clock } from "@posthaste/core/time";
import { Problem } from "../http/problem.ts";

const MOST_WRONG = 10;
const WINDOW_MS = 60_000;
const MOST_ADDRESSES = 10_000;

interface Count {
  readonly sinceMs: number;
  wrong: number;
}

export class WrongTokens {
  readonly #clock: Clock;
  readonly #counts = new Map<string, Count>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws the Problem `too_many_requests` for an address that sent too many. */
  assertFew(address: string): void {
    if (!this.areMany(address)) return;
    const sinceMs = this.#countOf(address)?.sinceMs ?? 0;
    const waitMs = sinceMs + WINDOW_MS - this.#clock.monotonicMs();
    const detail = `${MOST_WRONG} wrong tokens came from your address within a minute: try again later`;
    throw new Problem("too_many_requests", detail, [], { "retry-after": String(Math.ceil(waitMs / 1000)) });
  }

  areMany(address: string): boolean {
    return (this.#countOf(address)?.wrong ?? 0) >= MOST_WRONG;
  }

  note(address: string): void {
    const count = this.#countOf(address);
    if (count !== undefined) {
      count.wrong += 1;
      return;
    }
    const [oldest] = this.#counts.keys();
    if (this.#counts.size >= MOST_ADDRESSES && oldest !== undefined) this.#counts.delete(oldest);
    this.#counts.set(address, { sinceMs: this.#clock.monotonicMs(), wrong: 1 });
  }

  /** What was noted last of the address was right after all. */
  forget(address: string): void {
    const count = this.#countOf(address);
    if (count !== undefined) count.wrong -= 1;
  }

  /** Of the minute that runs. */
  #countOf(address: string): Count | undefined {
    const count = this.#counts.get(address);
    if (count === undefined || this.#clock.monotonicMs() < count.sinceMs + WINDOW_MS) return count;
    this.#counts.delete(address);
    return undefined;
  }
}
