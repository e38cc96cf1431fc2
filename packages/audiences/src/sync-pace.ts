/**
 * How fast syncs take users in and write their changes. A sync that runs as fast as it can takes both cores of a small
 * machine from live events.
 *
 * Owns: the token bucket of the rate, which all syncs of the process share.
 * SQ1  Over any second at most the rate, a tenth of it and one step pass, however many syncs run.
 * SQ2  While a sync has users all the time, the rate is reached.
 */
import { TokenBucket } from "@posthaste/core/isolation/token-bucket";
import type { Clock } from "@posthaste/core/time";
import { pause } from "@posthaste/kafka/connection/deadline";

/** Seconds between two steps of one sync, and the most users of a step: more would fill the table's thread. */
const STEP_SECONDS = 0.05;
const MAX_STEP_USERS = 1000;

export interface SyncPaceOptions {
  readonly usersPerSecond: number;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Resolves after so many ms. */
  readonly pause?: (ms: number) => Promise<void>;
}

export class SyncPace {
  readonly #bucket: TokenBucket;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #pause: (ms: number) => Promise<void>;

  constructor({ usersPerSecond, clock, pause: wait = pause }: SyncPaceOptions) {
    this.#bucket = new TokenBucket(usersPerSecond, clock.monotonicMs());
    this.#clock = clock;
    this.#pause = wait;
  }

  /** The users of one step: few at a low rate, so that live events wait for no long one. */
  get stepUsers(): number {
    return Math.max(1, Math.min(MAX_STEP_USERS, Math.round(this.#bucket.perSecond * STEP_SECONDS)));
  }

  /** Counts a step of `users` that passed. Resolves when the next step may begin. */
  async passed(users: number): Promise<void> {
    this.#bucket.take(users, this.#clock.monotonicMs());
    for (;;) {
      const waitMs = this.#bucket.waitMs(0, this.#clock.monotonicMs());
      if (waitMs <= 0) return;
      await this.#pause(Math.ceil(waitMs));
    }
  }
}
