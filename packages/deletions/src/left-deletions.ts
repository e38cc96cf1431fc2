/**
 * Resumes deletion requests that are on record and that no process carries out any more (E1 of deletion-runner.ts).
 *
 * Owns: the timer of the next look.
 */
import type { Log } from "@posthaste/core/log";
import type { DeletionRunner } from "./deletion-runner.ts";
import type { DeletionStore } from "./deletion-store.ts";

/** The time between two looks, in ms. The first look may find a request that another process is carrying out. */
const LOOK_MS = 60_000;

export interface LeftDeletionsOptions {
  readonly store: Pick<DeletionStore, "values" | "isContested">;
  readonly runner: Pick<DeletionRunner, "runRecorded" | "isRunning">;
  readonly log: Log;
}

export class LeftDeletions {
  readonly #options: LeftDeletionsOptions;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: LeftDeletionsOptions) {
    this.#options = options;
  }

  /** Resumes requests now and at each look. The store must have caught up. */
  start(): void {
    this.#timer = setInterval(() => void this.#resumeAll(), LOOK_MS);
    void this.#resumeAll();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Never rejects. */
  async #resumeAll(): Promise<void> {
    const { store, runner, log } = this.#options;
    const left = [...store.values()].filter(({ id, state }) => state === "requested" && !runner.isRunning(id));
    for (const { id } of left) {
      // X2 of deletion-store.ts: the next look finds the record that stays.
      if (store.isContested(id)) continue;
      try {
        await runner.runRecorded(id);
        log.info({ event: "deletion_resumed", deletionId: id });
      } catch (error) {
        log.warn({ event: "deletion_left", deletionId: id, err: error }, "a deletion request is tried again later");
      }
    }
  }
}
