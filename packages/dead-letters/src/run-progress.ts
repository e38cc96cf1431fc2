/**
 * The progress of one runner: the finished part of its work, and the part that is written.
 *
 * Owns: both, and the places of the dead letters that were skipped.
 * RW1  The written progress is never ahead of the finished work, and at most a batch behind (RP3 of core's
 *      `replay.ts`).
 * RW2  While the brokers take no writes, the runner waits for them. A runner that was taken over gets `TakenOver`, and
 *      writes nothing.
 * RW3  No runner goes on with a replay that has ended: the runner that gets the partition may not have read that end
 *      yet.
 */
import type { RecordedProgress } from "@posthaste/contracts/replay-codec";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { Log } from "@posthaste/core/log";
import {
  addSkipped,
  advanceProgress,
  canWrite,
  claimProgress,
  isEnded,
  nextOffset,
  type PartitionOffset,
  type RunState,
  type SkipCause,
  type SkippedCounts,
  sendableDeadLetters,
} from "@posthaste/core/replay/replay";
import type { Clock } from "@posthaste/core/time";
import { MAX_PLACES_BYTES, PlaceSet } from "./place-set.ts";
import type { ReplayStore } from "./replay-store.ts";

const SAVE_MS = 1000;

/** Another runner went on with the replay, or has ended it. */
export class TakenOver extends Error {}

export interface SkippedDeadLetter {
  readonly offset: number;
  readonly cause: SkipCause;
}

/** The work of a runner in a partition: it has passed every offset below `next`. */
export interface Passed {
  readonly next: number;
  readonly sent: number;
  readonly leftOut: readonly SkippedDeadLetter[];
}

export interface RunProgressOptions {
  readonly store: Pick<ReplayStore, "writeProgress">;
  readonly clock: Clock;
  readonly log: Log;
}

export class RunProgress {
  readonly #options: RunProgressOptions;
  readonly #id: string;
  readonly #signal: AbortSignal;
  readonly #places: PlaceSet;
  #done: RecordedProgress;
  #written: RecordedProgress;
  #writtenAtMs: number;

  private constructor(options: RunProgressOptions, id: string, signal: AbortSignal, claimed: RecordedProgress) {
    this.#options = options;
    this.#id = id;
    this.#signal = signal;
    this.#places = PlaceSet.decode(claimed.leftOutPlaces);
    this.#done = claimed;
    this.#written = claimed;
    this.#writtenAtMs = options.clock.monotonicMs();
  }

  /** Goes on from the written progress, as a new generation (RP2 of core's `replay.ts`). Throws `TakenOver` (RW3). */
  static async claim(options: RunProgressOptions, id: string, signal: AbortSignal): Promise<RunProgress> {
    const { store, clock, log } = options;
    const nowMs = clock.nowMs();
    const claimed = await store.writeProgress(id, (held) => {
      if (held !== undefined && isEnded(held)) throw new TakenOver();
      const leftOutPlaces = held?.leftOutPlaces ?? new Uint8Array();
      return { ...claimProgress(held, nowMs), leftOutPlaces, updatedAtMs: nowMs };
    });
    const { generation, takeovers, sent } = claimed;
    log.info({ event: "replay_run", replayId: id, generation, takeovers, sent });
    return new RunProgress(options, id, signal, claimed);
  }

  /** How many dead letters may be sent before the progress must be written. */
  get sendable(): number {
    return sendableDeadLetters(this.#done, this.#written);
  }

  nextOf(start: PartitionOffset): number {
    return nextOffset(this.#done, start);
  }

  pass(partition: number, { next, sent, leftOut }: Passed): void {
    this.#places.add(
      partition,
      leftOut.map(({ offset }) => offset),
    );
    const step = { partition, next, sent, leftOut: leftOut.map(({ cause }) => cause) };
    this.#done = { ...this.#done, ...advanceProgress(this.#done, step) };
  }

  /** Writes the progress when that is due. Throws `TakenOver`. */
  async writeWhenDue(): Promise<void> {
    const sinceMs = this.#options.clock.monotonicMs() - this.#writtenAtMs;
    if (this.sendable <= 0 || sinceMs >= SAVE_MS) await this.write("running");
  }

  /**
   * Writes the progress, and waits for the brokers (RW2). Throws `TakenOver`. For a replay that is done, `matched`
   * tells how many dead letters its topic lost meanwhile.
   */
  async write(state: RunState, matched = 0): Promise<void> {
    const { clock, log } = this.#options;
    const nowMs = clock.nowMs();
    const isEnd = state === "done" || state === "cancelled" || state === "failed";
    const progress: RecordedProgress = {
      ...this.#done,
      ...{ state, updatedAtMs: nowMs, endedAtMs: isEnd ? nowMs : null },
      leftOut: state === "done" ? this.#withExpired(matched) : this.#done.leftOut,
      leftOutPlaces: state === "failed" ? this.#written.leftOutPlaces : this.#encodePlaces(),
    };
    await this.#writePatiently(progress);
    this.#done = progress;
    this.#written = progress;
    this.#writtenAtMs = clock.monotonicMs();
    if (state === "running") return;
    const { sent, leftOut } = progress;
    log.info({ event: "replay_stopped", replayId: this.#id, state, sent, leftOut });
  }

  async #writePatiently(progress: RecordedProgress): Promise<void> {
    const { store, log } = this.#options;
    for (;;) {
      try {
        await store.writeProgress(this.#id, (held) => {
          if (!canWrite(held, progress)) throw new TakenOver();
          return progress;
        });
        return;
      } catch (error) {
        if (!isPosthasteError(error) || !error.retryable || this.#signal.aborted) throw error;
        log.warn({ event: "replay_progress_not_written", replayId: this.#id, err: error });
      }
    }
  }

  #encodePlaces(): Uint8Array {
    const bytes = this.#places.encode();
    if (bytes.length <= MAX_PLACES_BYTES) return bytes;
    throw new PosthasteError("internal", "too many dead letters were left out to be noted");
  }

  /**
   * RP4 of core's `replay.ts`: counts the dead letters of the plan that retention deleted.
   */
  #withExpired(matched: number): SkippedCounts {
    const { sent, leftOut } = this.#done;
    const passed = sent + Object.values(leftOut).reduce((sum, count) => sum + count, 0);
    return addSkipped(
      leftOut,
      Array.from({ length: Math.max(0, matched - passed) }, () => "expired" as const),
    );
  }
}
