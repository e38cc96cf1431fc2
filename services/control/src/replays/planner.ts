/**
 * Makes plans: counts the dead letters that fit, out of the topic itself, up to where it ends when it is asked for.
 *
 * Owns: the turn in which plans are made.
 * PL1  The ends are fixed first; what comes later belongs to no plan that is made now.
 * PL2  One plan is made at a time in a process: each reads a whole topic. Where one partition cannot be counted, the
 *      others are not read on.
 */
import type { Log } from "@posthaste/core/log";
import { type LetterFilter, letterCheck, letterPlace } from "@posthaste/core/replay/letter-filter";
import { addLeftOut, type LeftOutCause, type LeftOutCounts, NONE_LEFT_OUT } from "@posthaste/core/replay/replay";
import type { LetterSample, PlannedRange, PlanPurpose, ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { Clock } from "@posthaste/core/time";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { Problem } from "../http/problem.ts";
import { Lanes } from "../lanes.ts";
import type { LetterJudge } from "./letter-judge.ts";
import { type FoundLetter, type LetterReaderOptions, readLetters } from "./letter-reader.ts";
import type { LetterTopic } from "./letter-topic.ts";
import { MAX_PLACES_BYTES, PlaceSet } from "./place-set.ts";
import type { PastPlans } from "./plan-letters.ts";

/** How long a plan may wait to be started. */
const PLAN_KEEP_MS = 60 * 60 * 1000;
/** Brokers that do not answer are not waited for any longer. */
const BROKERS_MS = 10_000;
const SAMPLES = 3;
/** Of the counts by destination, reason, error and type, the largest. */
const GROUPS = 100;

export interface PlanInput {
  readonly purpose: PlanPurpose;
  readonly filter: LetterFilter;
  readonly again: boolean;
  readonly ratePerSecond: number | null;
}

export interface LetterCount {
  readonly destinationId: string;
  readonly reason: string;
  readonly error: string | null;
  readonly type: string;
  readonly count: number;
}

export interface MadePlan {
  readonly plan: ReplayPlan;
  /** The largest first. */
  readonly counts: readonly LetterCount[];
}

export interface PlannerOptions extends LetterReaderOptions {
  readonly judge: Pick<LetterJudge, "judge">;
  readonly past: PastPlans;
  readonly letterTopic: Pick<LetterTopic, "refresh">;
  readonly clock: Clock;
  readonly log: Log;
}

export class Planner {
  readonly #options: PlannerOptions;
  /** PL2. */
  readonly #lanes = new Lanes();

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /**
   * Throws the Problem `conflict` where more is left out, here and there, than can be noted; `unavailable` while the
   * delivery log cannot be asked. `signal` ends the reading.
   */
  make(input: PlanInput, signal: AbortSignal): Promise<MadePlan> {
    return this.#lanes.inTurn("", () => this.#make(input, signal));
  }

  async #make(input: PlanInput, signal: AbortSignal): Promise<MadePlan> {
    const { connection, topic, clock, log } = this.#options;
    const createdAtMs = clock.nowMs();
    const topicId = await this.#options.letterTopic.refresh(AbortSignal.any([signal, AbortSignal.timeout(BROKERS_MS)]));
    const ranges = await topicOffsets(connection, topic);
    const count = new Count(input, createdAtMs, this.#options);
    const failing = new AbortController();
    const reading = { topicId, signal: AbortSignal.any([signal, failing.signal]) };
    try {
      await Promise.all(ranges.map((range) => this.#countRange(range, count, reading)));
    } finally {
      failing.abort();
    }
    const { matched, leftOut, places, samples, counts } = count;
    const leftOutPlaces = places.encode();
    if (leftOutPlaces.length > MAX_PLACES_BYTES) {
      throw new Problem("conflict", "too many dead letters among those that fit are left out: narrow the filter");
    }
    log.info({ event: "replay_planned", purpose: input.purpose, matched, leftOut, ms: clock.nowMs() - createdAtMs });
    const plan: ReplayPlan = {
      ...{ ...input, want: "planned", topicId, ranges, matched, leftOut, leftOutPlaces, samples, createdAtMs },
      ...{ expiresAtMs: createdAtMs + PLAN_KEEP_MS, startedAtMs: null },
    };
    return { plan, counts };
  }

  async #countRange(range: PlannedRange, count: Count, { topicId, signal }: CountedTopic): Promise<void> {
    for await (const { letters, unreadable } of readLetters({ ...this.#options, topicId }, range, signal)) {
      await count.take(range.partition, letters, unreadable);
    }
  }
}

interface CountedTopic {
  readonly topicId: string | null;
  readonly signal: AbortSignal;
}

/** What is counted so far. */
class Count {
  readonly #input: PlanInput;
  readonly #createdAtMs: number;
  readonly #options: PlannerOptions;
  readonly #fits: ReturnType<typeof letterCheck>;
  readonly #counts = new Map<string, LetterCount>();
  readonly places = new PlaceSet();
  readonly samples: LetterSample[] = [];
  matched = 0;
  leftOut: LeftOutCounts = NONE_LEFT_OUT;

  constructor(input: PlanInput, createdAtMs: number, options: PlannerOptions) {
    this.#input = input;
    this.#createdAtMs = createdAtMs;
    this.#options = options;
    this.#fits = letterCheck(input.filter);
  }

  get counts(): readonly LetterCount[] {
    return [...this.#counts.values()].sort((a, b) => b.count - a.count).slice(0, GROUPS);
  }

  async take(partition: number, letters: readonly FoundLetter[], unreadable: readonly number[]): Promise<void> {
    const fitting = letters.filter(({ facts }) => this.#fits(facts));
    const causes = await this.#judge(fitting);
    const leftOut = fitting.filter((_, index) => causes[index] !== null).map(({ facts }) => facts.offset);
    for (const offset of [...leftOut, ...unreadable].sort((a, b) => a - b)) this.places.add(partition, offset);
    this.leftOut = addLeftOut(
      this.leftOut,
      causes.filter((cause) => cause !== null),
    );
    for (const [index, each] of fitting.entries()) if (causes[index] === null) this.#match(each);
  }

  /** A purge names whatever fits and was not purged. */
  async #judge(fitting: readonly FoundLetter[]): Promise<readonly (LeftOutCause | null)[]> {
    const { judge, past } = this.#options;
    if (this.#input.purpose === "replay") {
      return judge.judge(fitting, { replayId: null, again: this.#input.again, beforeMs: this.#createdAtMs });
    }
    const isPurged = past.purged();
    return fitting.map(({ facts }) => (isPurged(facts) ? "purged" : null));
  }

  #match({ facts }: FoundLetter): void {
    const { messageId, destinationId, reason, type, deadAtMs, errors } = facts;
    this.matched += 1;
    if (this.samples.length < SAMPLES) {
      this.samples.push({ place: letterPlace(facts), messageId, destinationId, reason, type, deadAtMs });
    }
    const error = errors[0] ?? null;
    const name = JSON.stringify([destinationId, reason, error, type]);
    const { count } = this.#counts.get(name) ?? { count: 0 };
    this.#counts.set(name, { destinationId, reason, error, type, count: count + 1 });
  }
}
