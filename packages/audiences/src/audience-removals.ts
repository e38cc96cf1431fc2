/**
 * Finishes removals of audiences whose process ended in the middle (AS6 of audience-sync.ts), in whichever control
 * process sees that first.
 *
 * Owns: the timer of the next look.
 */
import type { Audience } from "@posthaste/core/audience/audience";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { AudienceSyncs } from "./audience-sync.ts";

/** The time before a look, in ms; most removals are finished by then. */
const LOOK_AFTER_MS = 1000;
const LOOK_AGAIN_MS = 5000;

export interface AudienceRemovalsOptions {
  readonly audiences: { values(): Iterable<Audience> };
  readonly syncs: Pick<AudienceSyncs, "finishRemoval">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Log;
}

export class AudienceRemovals {
  readonly #options: AudienceRemovalsOptions;
  #timer: NodeJS.Timeout | null = null;
  #isStarted = false;
  #isClosed = false;

  constructor(options: AudienceRemovalsOptions) {
    this.#options = options;
  }

  /** Plans the first look; without a start there is none. */
  start(): void {
    this.#isStarted = true;
    this.look();
  }

  /** Plans a look, for an audience that is seen to be removed. */
  look(afterMs = LOOK_AFTER_MS): void {
    if (!this.#isStarted || this.#timer !== null || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      const done = (isLeft: boolean): void => {
        this.#timer = null;
        if (isLeft) this.look(LOOK_AGAIN_MS);
      };
      this.finish().then(done, () => done(true));
    }, afterMs);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Finishes the removals of which no process has a lease. Returns whether some are left. */
  async finish(): Promise<boolean> {
    const { audiences, syncs, clock, log } = this.#options;
    let isLeft = false;
    for (const { id, bornRevision, lease, isRemoved } of [...audiences.values()]) {
      if (!isRemoved || this.#isClosed) continue;
      isLeft = true;
      if (lease !== null && lease.untilMs > clock.nowMs()) continue;
      await syncs.finishRemoval({ id, bornRevision }).then(
        () => log.info({ event: "audience_removal_finished", audienceId: id }),
        // Where another process was first, the next look finds the audience gone.
        (error: unknown) => log.warn({ event: "audience_removal_not_finished", audienceId: id, err: error }),
      );
    }
    return isLeft;
  }
}
