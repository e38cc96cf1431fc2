/**
 * Tasks that one process of all does each minute: the leader, to which the group of replays gives its partition.
 *
 * Owns: the list of tasks, and which of them are under way.
 * leader-tasks 1  A task that fails, or does not end, holds up no other. It begins again at the next round in which it
 *                 is not under way.
 * leader-tasks 2  A task's signal is aborted when another process leads, and no task begins after that.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "@posthaste/core/log";

const EVERY_MS = 60_000;

export interface LeaderTasksOptions {
  readonly log: Log;
  /** Resolves when the next round is due, or when `signal` is aborted. */
  readonly pause?: (signal: AbortSignal) => Promise<void>;
}

export type LeaderTask = (signal: AbortSignal) => Promise<void>;

export class LeaderTasks {
  readonly #options: LeaderTasksOptions;
  readonly #tasks = new Map<string, LeaderTask>();
  readonly #underWay = new Set<string>();

  constructor(options: LeaderTasksOptions) {
    this.#options = options;
  }

  add(name: string, task: LeaderTask): void {
    this.#tasks.set(name, task);
  }

  /** Begins all tasks, round after round, until `signal` says that another process leads. Never rejects. */
  async lead(signal: AbortSignal): Promise<void> {
    const { log, pause = pauseOf } = this.#options;
    for (; !signal.aborted; await pause(signal)) {
      for (const [task, run] of this.#tasks) {
        if (signal.aborted) return;
        if (this.#underWay.has(task)) log.warn({ event: "leader_task_goes_on", task }, "has not ended for a minute");
        else void this.#do(task, run, signal);
      }
    }
  }

  /** Never rejects. */
  async #do(task: string, run: LeaderTask, signal: AbortSignal): Promise<void> {
    this.#underWay.add(task);
    try {
      await run(signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#options.log.error({ event: "leader_task_failed", task, err: error }, "tried again in a minute");
    } finally {
      this.#underWay.delete(task);
    }
  }
}

async function pauseOf(signal: AbortSignal): Promise<void> {
  await delay(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
}
