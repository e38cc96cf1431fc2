/**
 * How often each address came with a wrong token. After ten in a minute every request of the address is refused unread,
 * so that guessing a token takes longer. Each process counts for itself. Unknown sessions have a count of their own
 * (CS4 of token-callers.ts).
 *
 * Owns: the count of each address within its current minute.
 * - A request that is refused for this is not looked at, and does not count.
 * - At most `MOST_ADDRESSES` are counted; the oldest counts are then forgotten.
 */
import type { Clock } from "@posthaste/core/time";
import { Problem } from "./problem.ts";

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

  /** Throws the Problem `too_many_requests` for an address that sent too many wrong tokens. */
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

  /** Takes back the last note of the address: its token was right after all. */
  forget(address: string): void {
    const count = this.#countOf(address);
    if (count !== undefined) count.wrong -= 1;
  }

  /** The address's count within its current minute. */
  #countOf(address: string): Count | undefined {
    const count = this.#counts.get(address);
    if (count === undefined || this.#clock.monotonicMs() < count.sinceMs + WINDOW_MS) return count;
    this.#counts.delete(address);
    return undefined;
  }
}
