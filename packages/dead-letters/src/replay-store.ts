/**
 * Plans and their progress: two records each in one config topic, which every control process reads and writes (S1 to
 * S5 of `config-store.ts`). The topic also has the running counts of each process (`reported-counts.ts`).
 */

import { type AuditedFields, userTarget } from "@posthaste/configuration/audited-fields";
import { type ConfigStore, type ConfigStoreOptions, openConfigStore } from "@posthaste/configuration/config-store";
import type { Codec } from "@posthaste/contracts/codec";
import {
  countingKey,
  planIdOf,
  progressKey,
  type RecordedProgress,
  type ReplayRecord,
} from "@posthaste/contracts/replay-codec";
import type { Author } from "@posthaste/core/access/author";
import { PosthasteError } from "@posthaste/core/errors";
import type { Freshness } from "@posthaste/core/freshness";
import { desiredStateAfter, type ReplayAct, type ReplayState, replayState } from "@posthaste/core/replay/replay";
import type { PlanCounting, ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";

/** A plan with its progress. */
export interface HeldPlan {
  readonly id: string;
  readonly createdAtMs: number;
  readonly plan: ReplayPlan;
  readonly progress: RecordedProgress | undefined;
}

export type ReplayStoreOptions = Omit<ConfigStoreOptions<ReplayRecord>, "codec" | "onChange" | "auditedFields"> & {
  readonly codec: Codec<ReplayRecord>;
  /** Called when a record of a plan, or of its progress, was read. */
  readonly onRecord?: (planId: string, offset: number) => void;
  /** Called when a process's record of its counts was read; undefined when it was removed. */
  readonly onCounting?: (key: string, counting: readonly PlanCounting[] | undefined) => void;
};

const COUNTING = countingKey("");

/** Ends the removal of a plan that is not over. */
class StillDesired extends Error {}

/** Resolves when the topic is being read. */
export async function openReplayStore(connection: KafkaConnection, options: ReplayStoreOptions): Promise<ReplayStore> {
  const listeners = new Set<() => void>();
  // A running replay writes every second, which is no news for the log.
  const log = { ...options.log, info: options.log.debug };
  const records = await openConfigStore<ReplayRecord>(connection, {
    ...{ ...options, log, auditedFields: replayAudit },
    onChange: (key, record, offset) => {
      if (key.startsWith(COUNTING)) {
        options.onCounting?.(key, record?.counting ?? undefined);
        return;
      }
      options.onRecord?.(planIdOf(key), offset);
      for (const listener of listeners) listener();
    },
  });
  return new ReplayStore(records, listeners);
}

/** An act on a plan, with its author. */
export interface AskedAct {
  readonly act: ReplayAct;
  readonly by: Author;
  /** The other fields that the act changes. */
  readonly change?: (plan: ReplayPlan) => Partial<ReplayPlan>;
}

export class ReplayStore {
  readonly #records: ConfigStore<ReplayRecord>;
  readonly #listeners: Set<() => void>;

  /** For `openReplayStore`. */
  constructor(records: ConfigStore<ReplayRecord>, listeners: Set<() => void>) {
    this.#records = records;
    this.#listeners = listeners;
  }

  get state(): true | string {
    return this.#records.state;
  }

  get freshness(): Freshness {
    return this.#records.freshness;
  }

  caughtUp(): Promise<void> {
    return this.#records.caughtUp();
  }

  close(): Promise<void> {
    return this.#records.close();
  }

  /** Calls `listener` at every change of any plan, until the answered function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get(id: string): HeldPlan | undefined {
    const plan = this.#records.get(id)?.plan ?? null;
    return plan === null ? undefined : this.#held(id, plan);
  }

  /** As `get`, for an answer that says that there is none (NH1 of late-records.ts). */
  async find(id: string): Promise<HeldPlan | undefined> {
    await this.#records.find(id);
    return this.get(id);
  }

  *plans(): Iterable<HeldPlan> {
    for (const { id, plan } of this.#records.values()) if (plan !== null) yield this.#held(id, plan);
  }

  async add(id: string, plan: ReplayPlan): Promise<HeldPlan> {
    await this.#records.change(id, (_, revision) => ({ id, revision, plan, progress: null, counting: null }), null);
    return this.#held(id, plan);
  }

  /**
   * Changes the wanted state of a plan. Throws `not_found`, and `conflict` where the state does not allow the act.
   */
  async act(id: string, { act, by, change = () => ({}) }: AskedAct) {
    const changed = await this.#records.change(
      id,
      (current, revision) => {
        if (current === undefined || current.plan === null) throw noSuchPlan(id);
        const { plan } = current;
        const { progress } = this.#held(id, plan);
        const want = desiredStateAfter(act, plan.want, progress);
        if (want === null) throw refusalOf(id, act, replayState(plan.want, progress));
        return { ...current, revision, plan: { ...plan, ...change(plan), want } };
      },
      by,
    );
    if (changed === undefined || changed.plan === null) throw noSuchPlan(id);
    return this.#held(id, changed.plan);
  }

  /** Writes the progress that `change` makes from the current one; `change` throws to refuse. */
  async writeProgress(
    id: string,
    change: (held: RecordedProgress | undefined) => RecordedProgress,
  ): Promise<RecordedProgress> {
    const key = progressKey(id);
    const written = await this.#records.change(
      key,
      (current, revision) => {
        const progress = change(current?.progress ?? undefined);
        return { id: key, revision, plan: null, progress, counting: null };
      },
      null,
    );
    return written?.progress ?? change(undefined);
  }

  /**
   * Removes a plan with its progress, unless `isOver` denies it of the plan as it is by then: a caller may have started
   * it meanwhile. Returns whether it is gone. The progress goes last: a plan that had lost it would be carried out
   * again.
   */
  async remove(id: string, isOver: (held: HeldPlan) => boolean): Promise<boolean> {
    try {
      await this.#records.change(
        id,
        (current) => {
          if (current?.plan && !isOver(this.#held(id, current.plan))) throw new StillDesired();
          return null;
        },
        null,
      );
    } catch (error) {
      if (error instanceof StillDesired) return false;
      throw error;
    }
    await this.#removeProgress(progressKey(id));
    return true;
  }

  /** Removes progress that `remove` left when its process ended in the middle. */
  async removeLeftProgress(isOver: (progress: RecordedProgress) => boolean): Promise<void> {
    const plans = new Set([...this.plans()].map(({ id }) => progressKey(id)));
    const left = [...this.#records.values()].filter(({ id, progress }) => {
      return progress !== null && !plans.has(id) && isOver(progress);
    });
    for (const { id } of left) await this.#removeProgress(id);
  }

  /** Writes the running counts of a process; undefined removes its record. */
  async writeCounting(key: string, counting: readonly PlanCounting[] | undefined): Promise<void> {
    const change = (_: ReplayRecord | undefined, revision: number): ReplayRecord | null =>
      counting === undefined ? null : { id: key, revision, plan: null, progress: null, counting };
    if (counting !== undefined || this.#records.get(key) !== undefined) await this.#records.change(key, change, null);
  }

  async #removeProgress(key: string): Promise<void> {
    if (this.#records.get(key) !== undefined) await this.#records.change(key, () => null, null);
  }

  #held(id: string, plan: ReplayPlan): HeldPlan {
    const progress = this.#records.get(progressKey(id))?.progress ?? undefined;
    return { id, createdAtMs: plan.createdAtMs, plan, progress };
  }
}

/**
 * The fields of a plan that the audit has. Its progress is no caller's change. A plan that is not started has none but
 * its state, so that the entry of its start tells which dead letters it sends.
 */
export function replayAudit({ plan }: ReplayRecord): AuditedFields {
  if (plan === null) return {};
  const { purpose, want, filter, matched, again, ratePerSecond } = plan;
  if (want === "planned") return { want };
  const { userId, ...asked } = filter;
  const user = userId === undefined ? {} : { userId: userTarget(userId) };
  return { purpose, want, filter: { ...asked, ...user }, matched, again, ratePerSecond };
}

export function noSuchPlan(id: string): PosthasteError {
  return new PosthasteError(
    "not_found",
    `there is no ${id}: a plan is kept for an hour, a replay for 14 days after its end`,
  );
}

const DONE: Readonly<Record<ReplayAct, string>> = {
  start: "started",
  pause: "paused",
  resume: "resumed",
  cancel: "cancelled",
};

function refusalOf(id: string, act: ReplayAct, state: ReplayState): PosthasteError {
  return new PosthasteError("conflict", `${id} is ${state} and cannot be ${DONE[act]}: ${whyNot(act, state)}`);
}

/** Of an act that `desiredStateAfter` does not allow. */
function whyNot(act: ReplayAct, state: ReplayState): string {
  if (state === "planned") return "it was not started yet";
  if (act === "start") return "it was started before";
  return state === "running" ? "it was cancelled, and is about to end" : "it has ended";
}
