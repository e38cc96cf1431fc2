/**
 * Tasks that one process of all does each minute: the leader, to which the group of replays gives its partition.
 *
 * Owns: the list of tasks.
 * leader-tasks 1  A task that fails is tried again at the next round, and holds up no other.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "@posthaste/core/log";

const EVERY_MS = 60_000;

export interface LeaderTasksOptions {
  readonly log: Log;
  /** Resolves when the next round is due, or when `signal` is aborted. */
  readonly pause?: (signal: AbortSignal) => Promise<void>;
}

export class LeaderTasks {
  readonly #options: LeaderTasksOptions;
  readonly #tasks = new Map<string, () => Promise<void>>();

  constructor(options: LeaderTasksOptions) {
    this.#options = options;
  }

  add(name: string, task: () => Promise<void>): void {
    this.#tasks.set(name, task);
  }

  /** Does all tasks, round after round, until `signal` says that another process leads. Never rejects. */
  async lead(signal: AbortSignal): Promise<void> {
    const { log, pause = pauseOf } = this.#options;
    for (; !signal.aborted; await pause(signal)) {
      for (const [task, run] of this.#tasks) {
        if (signal.aborted) return;
        await run().catch((error: unknown) => {
          if (!signal.aborted) log.error({ event: "leader_task_failed", task, err: error }, "tried again in a minute");
        });
      }
    }
  }
}

async function pauseOf(signal: AbortSignal): Promise<void> {
  await delay(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
}
