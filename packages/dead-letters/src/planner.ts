/**
 * Makes plans. It counts the dead letters that fit a filter, up to the topic's end of the moment of asking: by the read
 * model as far as that has them, and the rest from the topic itself.
 *
 * Owns: the lane in which plans are made one after the other, and the plans that are being made.
 * PL1  The ends are fixed first; dead letters that come later belong to no plan that is being made.
 * PL2  A process makes one plan at a time, since each reads a whole topic. When one partition cannot be counted, the
 *      reading of the others ends too.
 * PL3  Both ways count the same. The read model is asked for ranges of which it has every dead letter, and when it
 *      dropped some of them meanwhile, that count is thrown away.
 * PL4  A plan tells how far its count is, from when it is asked for until it is made, given up or failed. How much
 *      there is to count is an estimate, which only the count itself confirms.
 */
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import { Lanes } from "@posthaste/core/lanes";
import type { Log } from "@posthaste/core/log";
import type { DeadLetterFilter } from "@posthaste/core/replay/dead-letter-filter";
import type { PlanCounting, PlannedRange, PlanPurpose, ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { Clock } from "@posthaste/core/time";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { countRows, isCountedByRows } from "./count-by-rows.ts";
import type { DeadLetterJudge } from "./dead-letter-judge.ts";
import { type DeadLetterReaderOptions, readDeadLetters } from "./dead-letter-reader.ts";
import type { DeadLetterTopic } from "./dead-letter-topic.ts";
import { type DeadLettersReadModel, heldRanges, listedDeadLetters, someListed } from "./listed-dead-letters.ts";
import { MAX_PLACES_BYTES } from "./place-set.ts";
import { type CountedPlan, type DeadLetterCount, PlanCount } from "./plan-count.ts";
import type { PastPlans } from "./plan-dead-letters.ts";

/** How long a plan may wait to be started, in ms. */
const PLAN_KEEP_MS = 60 * 60 * 1000;
/** How long brokers that do not answer are waited for, in ms. */
const BROKERS_MS = 10_000;
/** How many counts by the read model are tried before all is read from the topic (PL3). */
const TRIES = 2;

export interface PlanInput {
  readonly purpose: PlanPurpose;
  readonly filter: DeadLetterFilter;
  readonly again: boolean;
  readonly ratePerSecond: number | null;
}

export interface MadePlan {
  readonly plan: ReplayPlan;
  /** The counts, the largest first. */
  readonly counts: readonly DeadLetterCount[];
}

export interface PlannerOptions extends DeadLetterReaderOptions {
  readonly judge: Pick<DeadLetterJudge, "judge" | "byRow">;
  readonly past: PastPlans;
  readonly deadLetterTopic: Pick<DeadLetterTopic, "refresh">;
  readonly readModel: DeadLettersReadModel;
  readonly clock: Clock;
  readonly log: Log;
}

export class Planner {
  readonly #options: PlannerOptions;
  /** PL2. */
  readonly #lanes = new Lanes();
  /** The plans that are being made, in the order in which they were asked for (PL4). */
  readonly #counting = new Set<CountingPlan>();

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /**
   * Makes a plan. Throws `conflict` when more dead letters are skipped than can be noted, and
   * `unavailable` while the delivery log cannot be asked. `signal` ends the reading.
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

  /** PL4. The first plan is being counted, the others wait. */
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
    const topicId = await this.#options.deadLetterTopic.refresh(
      AbortSignal.any([signal, AbortSignal.timeout(BROKERS_MS)]),
    );
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
      throw new PosthasteError(
        "conflict",
        "too many dead letters among those that fit are left out: narrow the filter",
      );
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
      if (!isPosthasteError(error)) throw error;
      this.#options.log.warn({ event: "replay_counted_from_topic", err: error }, "the delivery log cannot be asked");
    }
    return { count: begin(), rest: ranges };
  }

  async #countRange(range: PlannedRange, count: PlanCount, { topicId, signal }: CountedTopic): Promise<void> {
    for await (const { deadLetters, unreadable } of readDeadLetters({ ...this.#options, topicId }, range, signal)) {
      await count.take(deadLetters);
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
  /** The count by the read model. */
  readonly count: PlanCount;
  /** The ranges that are to be read from the topic. */
  readonly rest: readonly PlannedRange[];
}

interface ListedCount {
  readonly count: PlanCount;
  readonly filter: DeadLetterFilter;
  readonly held: readonly PlannedRange[];
}

async function countListed(
  readModel: DeadLettersReadModel,
  { count, filter, held }: ListedCount,
  signal: AbortSignal,
): Promise<void> {
  for await (const deadLetters of listedDeadLetters(readModel, filter, held)) {
    if (signal.aborted) return;
    await count.take(deadLetters);
  }
}

function isWithin({ partition, start, end }: PlannedRange, ranges: readonly PlannedRange[]): boolean {
  return ranges.some((each) => each.partition === partition && each.start <= start && each.end >= end);
}

function lengthOf(ranges: readonly PlannedRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + (end - start), 0);
}

/** The ranges without the parts that the read model has. */
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
