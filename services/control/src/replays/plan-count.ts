/**
 * What a plan comes to, as letters are counted.
 *
 * Owns: the counts, and the places of what is left out.
 */
import { letterCheck, letterPlace } from "@posthaste/core/replay/letter-filter";
import { addLeftOut, type LeftOutCause, type LeftOutCounts, NONE_LEFT_OUT } from "@posthaste/core/replay/replay";
import type { LetterSample, ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { JudgedLetter, LetterJudge } from "./letter-judge.ts";
import { PlaceSet } from "./place-set.ts";
import type { PastPlans } from "./plan-letters.ts";

const SAMPLES = 3;
/** Of the counts by destination, reason, error and type, the largest. */
const GROUPS = 100;

export interface LetterCount {
  readonly destinationId: string;
  readonly reason: string;
  readonly error: string | null;
  readonly type: string;
  readonly count: number;
}

export interface PlanCountParts {
  readonly judge: Pick<LetterJudge, "judge">;
  readonly past: PastPlans;
}

export type CountedPlan = Pick<ReplayPlan, "purpose" | "filter" | "again" | "createdAtMs">;

export class PlanCount {
  readonly #plan: CountedPlan;
  readonly #parts: PlanCountParts;
  readonly #fits: ReturnType<typeof letterCheck>;
  readonly #counts = new Map<string, LetterCount>();
  /** Offsets by partition. */
  readonly #left = new Map<number, number[]>();
  readonly samples: LetterSample[] = [];
  /** Letters that were looked at. */
  looked = 0;
  matched = 0;
  leftOut: LeftOutCounts = NONE_LEFT_OUT;

  constructor(plan: CountedPlan, parts: PlanCountParts) {
    this.#plan = plan;
    this.#parts = parts;
    this.#fits = letterCheck(plan.filter);
  }

  get counts(): readonly LetterCount[] {
    return [...this.#counts.values()].sort((a, b) => b.count - a.count).slice(0, GROUPS);
  }

  /** Of whatever was left out. */
  places(): PlaceSet {
    const places = new PlaceSet();
    for (const [partition, offsets] of [...this.#left].sort(([one], [other]) => one - other)) {
      for (const offset of offsets.sort((a, b) => a - b)) places.add(partition, offset);
    }
    return places;
  }

  async take(letters: readonly JudgedLetter[]): Promise<void> {
    this.looked += letters.length;
    const fitting = letters.filter(({ facts }) => this.#fits(facts));
    const causes = await this.#judge(fitting);
    this.leftOut = addLeftOut(
      this.leftOut,
      causes.filter((cause) => cause !== null),
    );
    for (const [index, each] of fitting.entries()) {
      if (causes[index] === null) this.#match(each);
      else this.leave(each.facts.partition, [each.facts.offset]);
    }
  }

  /** Places that no replay of the plan is to send. */
  leave(partition: number, offsets: readonly number[]): void {
    const left = this.#left.get(partition);
    if (left === undefined) this.#left.set(partition, [...offsets]);
    else left.push(...offsets);
  }

  /** A purge names whatever fits and was not purged. */
  async #judge(fitting: readonly JudgedLetter[]): Promise<readonly (LeftOutCause | null)[]> {
    const { judge, past } = this.#parts;
    const { purpose, again, createdAtMs } = this.#plan;
    if (purpose === "replay") {
      return judge.judge(fitting, { replayId: null, again, beforeMs: createdAtMs });
    }
    const isPurged = past.purged();
    return fitting.map(({ facts }) => (isPurged(facts) ? "purged" : null));
  }

  #match({ facts }: JudgedLetter): void {
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
