/**
 * Notes in the read model which dead letters replays sent long ago. The attempts at them leave their topic before the
 * dead letters do. Without the note, a control that reads its topics from the start would call those dead letters open.
 *
 * Owns: the timer, and the pass that is under way.
 * LO1  A dead letter is noted once every replay's attempts at it may be gone from their topic: from then on nothing of
 *      the replay is on its way, so the dead letter was delivered, or a newer one says that it died again (LM3 of
 *      dead-letter-mark.ts).
 * LO2  A pass is made once the dead letters are read, and again each hour: the read model may have been opened anew,
 *      and another replay may be old enough. Without such a replay a pass reads nothing.
 */
import { setTimeout as delay } from "node:timers/promises";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { factsFromEntry } from "@posthaste/read-model/dead-letter-entry";
import { isUndecided } from "@posthaste/read-model/dead-letter-mark";
import type { ProjectionCursor } from "@posthaste/read-model/projection-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { PastPlans } from "./plan-dead-letters.ts";

const PROJECTION = "dead_letters";
/** How long, in ms, deliveries and attempts stay in their topics. */
const ATTEMPTS_KEEP_MS = 7 * 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;
/** How soon, in ms, it is asked again whether the dead letters are read. */
const SOON_MS = 5000;
/** The dead letters that are looked at at a time. */
const STEP = 2000;

export interface ReplayedDeadLettersOptions {
  readonly past: Pick<PastPlans, "sentBefore">;
  readonly readModel: Pick<ReadModel, "isComplete" | "newest" | "noteSent">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Log;
}

export class ReplayedDeadLetters {
  readonly #options: ReplayedDeadLettersOptions;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: ReplayedDeadLettersOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** LO1: makes one pass. Returns how many dead letters it noted. Throws `delivery_log_unavailable`. */
  async note(): Promise<number> {
    const { past, readModel, clock } = this.#options;
    // No dead letter that died after a replay was sent by it.
    const untilMs = clock.nowMs() - ATTEMPTS_KEEP_MS;
    const isSent = past.sentBefore(untilMs);
    let noted = 0;
    let after: ProjectionCursor | undefined;
    while (isSent !== null && !this.#closing.signal.aborted) {
      const deadLetters = await readModel.newest(PROJECTION, { untilMs, limit: STEP, after });
      const found = deadLetters.filter((each) => isUndecided(each.mark ?? 0) && isSent(factsFromEntry(each)));
      if (found.length > 0) {
        await readModel.noteSent(
          found.map(({ timeMs, partition, offset, place }) => ({ timeMs, partition, offset, place })),
        );
      }
      noted += found.length;
      after = deadLetters.at(-1);
      if (deadLetters.length < STEP) break;
    }
    return noted;
  }

  /** LO2. Never rejects but for a fault of its own. */
  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const isNoted = await this.#pass();
      await delay(isNoted ? HOUR_MS : SOON_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Whether a pass was made to its end. */
  async #pass(): Promise<boolean> {
    const { readModel, log } = this.#options;
    if (!readModel.isComplete(PROJECTION)) return false;
    try {
      const deadLetters = await this.note();
      if (deadLetters > 0) log.info({ event: "replayed_dead_letters_noted", deadLetters });
      return true;
    } catch (error) {
      // The read model is being opened again.
      if (!isPosthasteError(error)) throw error;
      log.debug({ event: "replayed_dead_letters_not_noted", err: error });
      return false;
    }
  }
}
