/**
 * Makes plans: counts the dead letters that fit, up to where their topic ends when it is asked for, out of the read
 * model what it holds and out of the topic itself the rest.
 *
 * Owns: the turn in which plans are made, and those that are being made.
 * PL1  The ends are fixed first; what comes later belongs to no plan that is made now.
 * PL2  One plan is made at a time in a process: each reads a whole topic. Where one partition cannot be counted, the
 *      others are not read on.
 * PL3  What is counted is the same both ways: the read model is asked for ranges of which it holds every letter, and
 *      where it dropped some of them meanwhile, that count is thrown away.
 * PL4  What is being counted says how far it is from when it is asked for until it is made, given up or failed. How
 *      much there is to count is an estimate: the count itself is what finds out.
 */
import { isPosthasteError } from "@posthaste/core/errors";
import type { Log } from "@posthaste/core/log";
import type { LetterFilter } from "@posthaste/core/replay/letter-filter";
import type { PlanCounting, PlannedRange, PlanPurpose, ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { Clock } from "@posthaste/core/time";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { Problem } from "../http/problem.ts";
import { Lanes } from "../lanes.ts";
import type { LetterJudge } from "./letter-judge.ts";
import { type LetterReaderOptions, readLetters } from "./letter-reader.ts";
import type { LetterTopic } from "./letter-topic.ts";
import { heldRanges, type LettersReadModel, listedLetters, someListed } from "./listed-letters.ts";
import { MAX_PLACES_BYTES } from "./place-set.ts";
import { type CountedPlan, type LetterCount, PlanCount } from "./plan-count.ts";
import type { PastPlans } from "./plan-letters.ts";
import { countRows, isCountedByRows } from "./row-count.ts";

/** How long a plan may wait to be started. */
const PLAN_KEEP_MS = 60 * 60 * 1000;
/** Brokers that do not answer are not waited for any longer. */
const BROKERS_MS = 10_000;
/** Counts out of the read model that may have to be thrown away (PL3). */
const TRIES = 2;

export interface PlanInput {
  readonly purpose: PlanPurpose;
  readonly filter: LetterFilter;
  readonly again: boolean;
  readonly ratePerSecond: number | null;
}

export interface MadePlan {
  readonly plan: ReplayPlan;
  /** The largest first. */
  readonly counts: readonly LetterCount[];
}

export interface PlannerOptions extends LetterReaderOptions {
  readonly judge: Pick<LetterJudge, "judge" | "byRow">;
  readonly past: PastPlans;
  readonly letterTopic: Pick<LetterTopic, "refresh">;
  readonly readModel: LettersReadModel;
  readonly clock: Clock;
  readonly log: Log;
}

export class Planner {
  readonly #options: PlannerOptions;
  /** PL2. */
  readonly #lanes = new Lanes();
  /** PL4, in the order in which they were asked for. */
  readonly #counting = new Set<CountingPlan>();

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /**
   * Throws the Problem `conflict` where more is left out, here and there, than can be noted; `unavailable` while the
   * delivery log cannot be asked. `signal` ends the reading.
   */
  async make(input: PlanInput, signal: AbortSignal): Promise<MadePlan> {
    const counting: CountingPlan = { input, askedAtMs: this.#options.clock.nowMs(), count: null, of: null };
    this.#counting.add(counting);
    try {
      return await this.#lanes.inTurn("", () => this.#make(counting, signal));
    } finally {
      this.#counting.delete(counting);
    }
  }

  /** PL4: the first of them is counted, the others wait for their turn. */
  counting(): readonly PlanCounting[] {
    return [...this.#counting].map(({ input, askedAtMs, count, of }) => {
      const looked = count?.looked ?? 0;
      const { purpose, filter, again } = input;
      return { purpose, filter, again, askedAtMs, looked, of: of === null ? null : Math.max(of, looked) };
    });
  }

  async #make(counting: CountingPlan, signal: AbortSignal): Promise<MadePlan> {
    const { input } = counting;
    const { connection, topic, clock, log } = this.#options;
    const createdAtMs = clock.nowMs();
    const topicId = await this.#options.letterTopic.refresh(AbortSignal.any([signal, AbortSignal.timeout(BROKERS_MS)]));
    const ranges = await topicOffsets(connection, topic);
    const { count, rest } = await this.#countHeld({ counting, createdAtMs, topicId, ranges }, signal);
    const fromReadModel = count.looked;
    counting.count = count;
    counting.of = fromReadModel + lengthOf(rest);
    const failing = new AbortController();
    const reading = { topicId, signal: AbortSignal.any([signal, failing.signal]) };
    try {
      await Promise.all(rest.map((range) => this.#countRange(range, count, reading)));
    } finally {
      failing.abort();
    }
    const { matched, leftOut, samples, counts } = count;
    const leftOutPlaces = count.places().encode();
    if (leftOutPlaces.length > MAX_PLACES_BYTES) {
      throw new Problem("conflict", "too many dead letters among those that fit are left out: narrow the filter");
    }
    const looked = { fromReadModel, fromTopic: count.looked - fromReadModel, ms: clock.nowMs() - createdAtMs };
    log.info({ event: "replay_planned", purpose: input.purpose, matched, leftOut, ...looked });
    const plan: ReplayPlan = {
      ...{ ...input, want: "planned", topicId, ranges, matched, leftOut, leftOutPlaces, samples, createdAtMs },
      ...{ expiresAtMs: createdAtMs + PLAN_KEEP_MS, startedAtMs: null },
    };
    return { plan, counts };
  }

  /** PL3. */
  async #countHeld(asked: AskedCount, signal: AbortSignal): Promise<HeldCount> {
    const { readModel } = this.#options;
    const { counting, createdAtMs, topicId, ranges } = asked;
    const plan: CountedPlan = { ...counting.input, createdAtMs };
    const begin = () => new PlanCount(plan, this.#options);
    try {
      for (let tries = 0; tries < TRIES && !signal.aborted; tries += 1) {
        const held = await heldRanges(readModel, topicId, ranges);
        const count = begin();
        counting.count = count;
        const some = held.length === 0 ? 0 : await someListed(readModel, plan.filter);
        const byRows = isCountedByRows(plan.filter, some, lengthOf(held));
        counting.of = held.length === 0 ? null : (byRows ? lengthOf(held) : some) + lengthOf(restOf(ranges, held));
        if (byRows) await countRows(readModel, count, held, signal);
        else await countListed(readModel, { count, filter: plan.filter, held }, signal);
        const still = await heldRanges(readModel, topicId, ranges);
        const isWhole = !signal.aborted && held.every((range) => isWithin(range, still));
        if (isWhole) return { count, rest: restOf(ranges, held) };
      }
    } catch (error) {
      // It cannot be asked.
      if (!(error instanceof Problem) && !isPosthasteError(error)) throw error;
    }
    return { count: begin(), rest: ranges };
  }

  async #countRange(range: PlannedRange, count: PlanCount, { topicId, signal }: CountedTopic): Promise<void> {
    for await (const { letters, unreadable } of readLetters({ ...this.#options, topicId }, range, signal)) {
      await count.take(letters);
      count.leave(range.partition, unreadable);
    }
  }
}

interface CountedTopic {
  readonly topicId: string | null;
  readonly signal: AbortSignal;
}

interface CountingPlan {
  readonly input: PlanInput;
  readonly askedAtMs: number;
  count: PlanCount | null;
  of: number | null;
}

interface AskedCount {
  readonly counting: CountingPlan;
  readonly createdAtMs: number;
  readonly topicId: string | null;
  readonly ranges: readonly PlannedRange[];
}

interface HeldCount {
  /** Of what the read model holds. */
  readonly count: PlanCount;
  /** What the topic is to be read for. */
  readonly rest: readonly PlannedRange[];
}

interface ListedCount {
  readonly count: PlanCount;
  readonly filter: LetterFilter;
  readonly held: readonly PlannedRange[];
}

async function countListed(
  readModel: LettersReadModel,
  { count, filter, held }: ListedCount,
  signal: AbortSignal,
): Promise<void> {
  for await (const letters of listedLetters(readModel, filter, held)) {
    if (signal.aborted) return;
    await count.take(letters);
  }
}

function isWithin({ partition, start, end }: PlannedRange, ranges: readonly PlannedRange[]): boolean {
  return ranges.some((each) => each.partition === partition && each.start <= start && each.end >= end);
}

function lengthOf(ranges: readonly PlannedRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + (end - start), 0);
}

/** The ranges without the parts that are held. */
function restOf(ranges: readonly PlannedRange[], held: readonly PlannedRange[]): readonly PlannedRange[] {
  return ranges.flatMap(({ partition, start, end }) => {
    const part = held.find((each) => each.partition === partition) ?? { start: end, end };
    const parts = [
      { partition, start, end: part.start },
      { partition, start: part.end, end },
    ];
    return parts.filter((each) => each.start < each.end);
  });
}
