/** The handlers of the operations on plans, replays and purges. */

import { setTimeout as delay } from "node:timers/promises";
import type { Author } from "@posthaste/core/access/author";
import type { Log } from "@posthaste/core/log";
import type { ReplayAct } from "@posthaste/core/replay/replay";
import type { PlanPurpose, ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { Clock } from "@posthaste/core/time";
import { assertDeliveriesKnown } from "@posthaste/dead-letters/dead-letter-judge";
import type { MadePlan, PlanInput, Planner } from "@posthaste/dead-letters/planner";
import { isOver } from "@posthaste/dead-letters/replay-runner";
import { type HeldPlan, noSuchPlan, type ReplayStore } from "@posthaste/dead-letters/replay-store";
import type { ReportedCount, ReportedCounts } from "@posthaste/dead-letters/reported-counts";
import { type FreshAnswer, freshAnswer } from "@posthaste/http-kit/freshness";
import { createId } from "@posthaste/http-kit/identifiers";
import { type ListOrder, type Page, type PageQuery, pageFrom } from "@posthaste/http-kit/page";
import { invalidInput, Problem } from "@posthaste/http-kit/problem";
import type { ReadModel } from "@posthaste/read-model/read-model";

/** How long an answer waits for the runner to obey, in ms. */
const SETTLE_MS = 2000;
const LOOK_MS = 25;

export interface ReplayHandlersOptions {
  readonly store: ReplayStore;
  readonly planner: Planner;
  readonly reported: Pick<ReportedCounts, "all" | "tellOf">;
  readonly readModel: Pick<ReadModel, "isComplete">;
  readonly clock: Clock;
  readonly log: Log;
}

export interface StartAsked {
  readonly purpose: PlanPurpose;
  readonly by: Author;
  readonly ratePerSecond?: number | undefined;
}

/** A plan and its id; null where nothing matched. */
export interface StoredPlan {
  readonly id: string | null;
  readonly made: MadePlan;
}

export class ReplayHandlers {
  readonly #options: ReplayHandlersOptions;
  readonly #closing = new AbortController();

  constructor(options: ReplayHandlersOptions) {
    this.#options = options;
  }

  /**
   * Counts, and stores the plan for an hour where any dead letter matched. `signal` ends the count when nobody waits
   * any more.
   */
  async plan(input: PlanInput, signal: AbortSignal): Promise<StoredPlan> {
    const { store, planner, reported, readModel } = this.#options;
    if (input.purpose === "replay" && !input.again) assertDeliveriesKnown(readModel);
    const made = await reported.tellOf(() => planner.make(input, AbortSignal.any([signal, this.#closing.signal])));
    if (made.plan.matched === 0) return { id: null, made };
    const { id } = await store.add(createId("rpl"), made.plan);
    return { id, made };
  }

  /** A plan that may be started. Throws as `start`. */
  async planned(id: string, purpose: PlanPurpose): Promise<HeldPlan> {
    const held = await this.#findFor(id, purpose);
    if (held.plan.startedAtMs !== null) throw startedBefore(id, purpose);
    return held;
  }

  counting(): { readonly data: readonly ReportedCount[] } & FreshAnswer {
    return { data: this.#options.reported.all(), ...freshAnswer(this.#options.store.freshness) };
  }

  /**
   * Starts a plan. Throws the Problem `not_found`, and `conflict` for a plan of another purpose or one that was started
   * before.
   */
  async start(id: string, { purpose, by, ratePerSecond }: StartAsked): Promise<HeldPlan> {
    const { store, clock, log } = this.#options;
    await this.#findFor(id, purpose);
    const started = (plan: ReplayPlan): Partial<ReplayPlan> => {
      if (plan.startedAtMs !== null) throw startedBefore(id, purpose);
      return { startedAtMs: clock.nowMs(), ratePerSecond: ratePerSecond ?? plan.ratePerSecond };
    };
    const now = await store.act(id, { act: "start", by, change: started });
    log.info({ event: `${purpose}_started`, replayId: id, matched: now.plan.matched });
    return now;
  }

  /** The replays that were started. */
  list(query: PageQuery, order: ListOrder): Page<HeldPlan> & FreshAnswer {
    const nowMs = this.#options.clock.nowMs();
    const started = [...this.#options.store.plans()].filter((held) => isListed(held, nowMs));
    return { ...pageFrom(started, query, order), ...freshAnswer(this.#options.store.freshness) };
  }

  /** A replay as `list` has it; undefined for one that `list` leaves out. */
  listed(id: string): HeldPlan | undefined {
    const held = this.#options.store.get(id);
    return held !== undefined && isListed(held, this.#options.clock.nowMs()) ? held : undefined;
  }

  /** Rejects with the Problem `not_found`. */
  async find(id: string): Promise<HeldPlan> {
    const held = await this.#find(id);
    if (held.plan.purpose !== "replay") throw noSuchPlan(id);
    return held;
  }

  /** Asks the runner for an act. Resolves when the runner has obeyed, or after two seconds. */
  async act(id: string, act: Exclude<ReplayAct, "start">, by: Author): Promise<HeldPlan> {
    const { store, clock, log } = this.#options;
    await this.find(id);
    await store.act(id, { act, by });
    log.info({ event: "replay_asked", replayId: id, act });
    const giveUpAtMs = clock.monotonicMs() + SETTLE_MS;
    for (;;) {
      const held = await this.find(id);
      if (isSettled(held) || clock.monotonicMs() >= giveUpAtMs) return held;
      await delay(LOOK_MS);
    }
  }

  close(): void {
    this.#closing.abort();
  }

  async #findFor(id: string, purpose: PlanPurpose): Promise<HeldPlan> {
    const held = await this.#find(id);
    if (held.plan.purpose === purpose) return held;
    throw new Problem("conflict", `${id} was made to ${held.plan.purpose}, not to ${purpose}: make another plan`);
  }

  async #find(id: string): Promise<HeldPlan> {
    const held = await this.#options.store.find(id);
    if (held === undefined || isOver(held, this.#options.clock.nowMs())) throw noSuchPlan(id);
    return held;
  }
}

function startedBefore(id: string, purpose: PlanPurpose): Problem {
  const words = purpose === "replay" ? "its replay says how far it is" : "its dead letters are purged";
  return new Problem("conflict", `${id} was started before: ${words}`);
}

function isListed(held: HeldPlan, nowMs: number): boolean {
  return held.plan.purpose === "replay" && held.plan.startedAtMs !== null && !isOver(held, nowMs);
}

/** Whether the runner has reached the wanted state. */
function isSettled({ plan, progress }: HeldPlan): boolean {
  if (plan.want === "cancelled") return progress !== undefined && progress.endedAtMs !== null;
  if (plan.want === "paused") return progress?.state !== "running";
  return true;
}

/** Refuses a request that names a plan and also has a filter. */
export function assertPlanAlone(input: Readonly<Record<string, unknown>>): void {
  const others = Object.entries(input).filter(([, value]) => value !== undefined && value !== false);
  const [first] = others.find(([name]) => name !== "plan" && name !== "ratePerSecond") ?? [];
  if (first === undefined) return;
  throw invalidInput([{ path: first, message: "the plan says which dead letters: name it alone" }]);
}
