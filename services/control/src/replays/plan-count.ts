/**
 * What a plan comes to, as letters are counted, whole or by their rows in the read model.
 *
 * Owns: the counts, and the places of what is left out.
 */
import { type LetterFacts, letterCheck, letterPlace } from "@posthaste/core/replay/letter-filter";
import { addLeftOut, type LeftOutCause, type LeftOutCounts, NONE_LEFT_OUT } from "@posthaste/core/replay/replay";
import type { LetterSample, ReplayPlan } from "@posthaste/core/replay/replay-plan";
import { type JournalCursor, newestFirst } from "../read-model/journal-cursor.ts";
import { eachRow, type LetterRow, type LetterRows, lengthOfRows } from "../read-model/letter-row.ts";
import type { AlikeLetters } from "../read-model/letter-rows.ts";
import type { JudgedLetter, Judging, LetterJudge, RowJudge } from "./letter-judge.ts";
import { PlaceSet } from "./place-set.ts";
import type { PastPlans } from "./plan-letters.ts";
import { type RowFilter, rowFilter } from "./row-filter.ts";

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

type Counted = Omit<LetterCount, "count"> & { count: number };

/** Letters that are alike, for which one answer has to be found once. */
interface AlikeCount {
  readonly fits: boolean;
  readonly causeOf: ReturnType<RowJudge["ofAlike"]>;
  readonly count: Counted;
}

export interface PlanCountParts {
  readonly judge: Pick<LetterJudge, "judge" | "byRow">;
  readonly past: PastPlans;
}

export type CountedPlan = Pick<ReplayPlan, "purpose" | "filter" | "again" | "createdAtMs">;

export class PlanCount {
  readonly plan: CountedPlan;
  readonly #parts: PlanCountParts;
  readonly #fits: ReturnType<typeof letterCheck>;
  readonly #counts = new Map<string, Counted>();
  #fitsRow: RowFilter["fitsRow"] = () => null;
  readonly #alike = new Map<number, AlikeCount>();
  /** Of the rows that matched. */
  readonly #newest: JournalCursor[] = [];
  /** Offsets by partition. */
  readonly #left = new Map<number, number[]>();
  readonly samples: LetterSample[] = [];
  /** Letters that were looked at. */
  looked = 0;
  matched = 0;
  leftOut: LeftOutCounts = NONE_LEFT_OUT;

  constructor(plan: CountedPlan, parts: PlanCountParts) {
    this.plan = plan;
    this.#parts = parts;
    this.#fits = letterCheck(plan.filter);
  }

  get counts(): readonly LetterCount[] {
    const counted = [...this.#counts.values()].filter(({ count }) => count > 0);
    return counted.sort((a, b) => b.count - a.count).slice(0, GROUPS);
  }

  /** Of whatever was left out. */
  places(): PlaceSet {
    const places = new PlaceSet();
    for (const [partition, offsets] of [...this.#left].sort(([one], [other]) => one - other)) {
      places.add(partition, isAscending(offsets) ? offsets : offsets.sort((a, b) => a - b));
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

  /** Those of the rows that would be samples. */
  get newestRows(): readonly JournalCursor[] {
    return this.#newest;
  }

  /** Rows name these, and the filter's event. Answers whether `takeRows` has to know whom letters are about. */
  beginRows(alike: readonly AlikeLetters[], eventId: number | null): boolean {
    const { judge, past } = this.#parts;
    const { fitsAlike, fitsRow } = rowFilter(this.plan.filter, eventId);
    this.#fitsRow = fitsRow;
    const rowJudge = this.plan.purpose === "replay" ? judge.byRow(judgingOf(this.plan)) : purgeJudge(past);
    for (const letters of alike) {
      const { destinationId, reason, errors, type } = letters;
      this.#alike.set(letters.id, {
        fits: fitsAlike(letters),
        causeOf: rowJudge.ofAlike(letters),
        count: this.#countOf({ destinationId, reason, error: errors[0] ?? null, type }),
      });
    }
    return rowJudge.needsUsers;
  }

  /** Takes letters by their rows; answers where those stand that have to be taken whole. */
  takeRows(partition: number, rows: LetterRows): readonly JournalCursor[] {
    const whole: JournalCursor[] = [];
    const causes: LeftOutCause[] = [];
    const left = this.#leftOf(partition);
    eachRow(rows, partition, (row) => {
      const alike = this.#alike.get(row.alike);
      const fits = alike?.fits === true && this.#fitsRow(row);
      if (alike === undefined || fits === false) return;
      const cause = fits === null ? undefined : alike.causeOf(row);
      if (cause === null) this.#matchRow(alike, row);
      else if (cause === undefined) whole.push(cursorOf(row));
      else {
        causes.push(cause);
        left.push(row.offset);
      }
    });
    this.leftOut = addLeftOut(this.leftOut, causes);
    this.looked += lengthOfRows(rows) - whole.length;
    return whole;
  }

  /** The newest are kept. */
  sample(letter: LetterFacts): void {
    const { samples } = this;
    if (samples.length === SAMPLES && letter.deadAtMs <= (samples.at(-1)?.deadAtMs ?? 0)) return;
    const { messageId, destinationId, reason, type, deadAtMs } = letter;
    samples.push({ place: letterPlace(letter), messageId, destinationId, reason, type, deadAtMs });
    samples.sort((a, b) => b.deadAtMs - a.deadAtMs).splice(SAMPLES);
  }

  /** Places that no replay of the plan is to send. */
  leave(partition: number, offsets: readonly number[]): void {
    this.#leftOf(partition).push(...offsets);
  }

  #leftOf(partition: number): number[] {
    const left = this.#left.get(partition) ?? [];
    this.#left.set(partition, left);
    return left;
  }

  /** A purge names whatever fits and was not purged. */
  async #judge(fitting: readonly JudgedLetter[]): Promise<readonly (LeftOutCause | null)[]> {
    const { judge, past } = this.#parts;
    if (this.plan.purpose === "replay") return judge.judge(fitting, judgingOf(this.plan));
    const isPurged = past.purged();
    return fitting.map(({ facts }) => (isPurged(facts) ? "purged" : null));
  }

  #match({ facts }: JudgedLetter): void {
    const { destinationId, reason, type, errors } = facts;
    this.matched += 1;
    this.sample(facts);
    this.#countOf({ destinationId, reason, error: errors[0] ?? null, type }).count += 1;
  }

  #matchRow({ count }: AlikeCount, row: LetterRow): void {
    this.matched += 1;
    count.count += 1;
    // Most rows come in the order of their times: this is for each of a million.
    const newest = this.#newest;
    if (newest.length === SAMPLES && row.timeMs < (newest.at(-1)?.timeMs ?? 0)) return;
    newest.unshift(cursorOf(row));
    if (newest.length > 1) newest.sort(newestFirst);
    if (newest.length > SAMPLES) newest.pop();
  }

  #countOf(named: Omit<LetterCount, "count">): Counted {
    const name = JSON.stringify([named.destinationId, named.reason, named.error, named.type]);
    const held = this.#counts.get(name) ?? { ...named, count: 0 };
    this.#counts.set(name, held);
    return held;
  }
}

/** Rows come so; a million of them are not sorted for nothing. */
function isAscending(offsets: readonly number[]): boolean {
  return offsets.every((offset, index) => index === 0 || (offsets[index - 1] ?? 0) < offset);
}

function cursorOf({ timeMs, partition, offset }: LetterRow): JournalCursor {
  return { timeMs, partition, offset, place: 0 };
}

function judgingOf({ again, createdAtMs }: CountedPlan): Judging {
  return { replayId: null, again, beforeMs: createdAtMs };
}

/** A purge names whatever fits and was not purged. */
function purgeJudge(past: PastPlans): RowJudge {
  const purged = past.purgedRows();
  return {
    needsUsers: false,
    ofAlike: (letters) => {
      const isPurged = purged(letters);
      return (row) => {
        const answer = isPurged(row);
        return answer === null ? undefined : answer ? "purged" : null;
      };
    },
  };
}
