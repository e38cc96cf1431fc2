/**
 * The count of a plan, one by one: by whole dead letters, or by their rows in the read model.
 *
 * Owns: the counts, and the places of dead letters that are skipped.
 */
import { type DeadLetterFacts, deadLetterCheck, deadLetterPlace } from "@posthaste/core/replay/dead-letter-filter";
import { addSkipped, NONE_SKIPPED, type SkipCause, type SkippedCounts } from "@posthaste/core/replay/replay";
import type { DeadLetterSample, ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { GroupedDeadLetters } from "@posthaste/read-model/dead-letter-rows";
import { type DeadLetterRow, type DeadLetterRows, eachRow, lengthOfRows } from "@posthaste/read-model/dead-letter-rows";
import type { GroupCounts, GroupCountsQuery } from "@posthaste/read-model/group-counts";
import type { ProjectionCursor } from "@posthaste/read-model/projection-entry";
import type { DeadLetterJudge, GroupJudge, JudgedDeadLetter, Judging, RowJudge } from "./dead-letter-judge.ts";
import { LeftPlaces } from "./left-places.ts";
import type { PlaceSet } from "./place-set.ts";
import type { PastPlans } from "./plan-dead-letters.ts";
import { type RowFilter, rowFilter } from "./row-filter.ts";

const SAMPLES = 3;
/** The most counts by destination, reason, error and type that are answered, the largest. */
const GROUPS = 100;

export interface DeadLetterCount {
  readonly destinationId: string;
  readonly reason: string;
  readonly error: string | null;
  readonly type: string;
  readonly count: number;
}

type Counted = Omit<DeadLetterCount, "count"> & { count: number };

/** Dead letters of one group, which have some of their answers in common. */
interface GroupCount extends GroupJudge {
  readonly fits: boolean;
  readonly count: Counted;
}

type KeptCursor = { -readonly [Key in keyof ProjectionCursor]: ProjectionCursor[Key] };

export interface PlanCountParts {
  readonly judge: Pick<DeadLetterJudge, "judge" | "byRow">;
  readonly past: PastPlans;
}

export type CountedPlan = Pick<ReplayPlan, "purpose" | "filter" | "again" | "createdAtMs">;

export class PlanCount {
  readonly plan: CountedPlan;
  readonly #parts: PlanCountParts;
  readonly #fits: ReturnType<typeof deadLetterCheck>;
  readonly #counts = new Map<string, Counted>();
  #fitsRow: RowFilter["fitsRow"] = () => null;
  #isOfGroup = false;
  readonly #groups = new Map<number, GroupCount>();
  /** The newest rows that matched, newest first. Cursors are used again, since there may be a million rows. */
  readonly #newest: KeptCursor[] = [];
  readonly #left = new LeftPlaces();
  readonly #sampled: DeadLetterFacts[] = [];
  /** How many dead letters were looked at. */
  looked = 0;
  matched = 0;
  leftOut: SkippedCounts = NONE_SKIPPED;

  constructor(plan: CountedPlan, parts: PlanCountParts) {
    this.plan = plan;
    this.#parts = parts;
    this.#fits = deadLetterCheck(plan.filter);
  }

  get counts(): readonly DeadLetterCount[] {
    const counted = [...this.#counts.values()].filter(({ count }) => count > 0);
    return counted.sort((a, b) => b.count - a.count).slice(0, GROUPS);
  }

  /**
   * The newest dead letters, newest first. Dead letters of one moment stand in the order of their places, so that the
   * samples do not depend on the way of counting.
   */
  get samples(): readonly DeadLetterSample[] {
    return this.#sampled.map((deadLetter) => {
      const { messageId, destinationId, reason, type, deadAtMs } = deadLetter;
      return { place: deadLetterPlace(deadLetter), messageId, destinationId, reason, type, deadAtMs };
    });
  }

  /** The places of the dead letters that are skipped. */
  places(): PlaceSet {
    return this.#left.places();
  }

  async take(deadLetters: readonly JudgedDeadLetter[]): Promise<void> {
    this.looked += deadLetters.length;
    const fitting = deadLetters.filter(({ facts }) => this.#fits(facts));
    const causes = await this.#judge(fitting);
    this.leftOut = addSkipped(
      this.leftOut,
      causes.filter((cause) => cause !== null),
    );
    for (const [index, each] of fitting.entries()) {
      if (causes[index] === null) this.#match(each);
      else this.leave(each.facts.partition, [each.facts.offset]);
    }
  }

  /** The places of the newest rows that matched, which become samples. */
  get newestRows(): readonly ProjectionCursor[] {
    return this.#newest;
  }

  /**
   * Prepares for rows, which name `groups` and the filter's event by numbers. Returns whether `takeRows` needs the
   * users of rows.
   */
  beginRows(groups: readonly GroupedDeadLetters[], eventId: number | null): boolean {
    const { judge, past } = this.#parts;
    const { fitsGroup, fitsRow, isOfGroup } = rowFilter(this.plan.filter, eventId);
    this.#fitsRow = fitsRow;
    this.#isOfGroup = isOfGroup;
    const rowJudge = this.plan.purpose === "replay" ? judge.byRow(judgingOf(this.plan)) : purgeJudge(past);
    for (const deadLetters of groups) {
      const { destinationId, reason, errors, type } = deadLetters;
      this.#groups.set(deadLetters.id, {
        ...rowJudge.ofGroup(deadLetters),
        fits: fitsGroup(deadLetters),
        count: this.#countOf({ destinationId, reason, error: errors[0] ?? null, type }),
      });
    }
    return rowJudge.needsUsers;
  }

  /**
   * Returns the query for `takeGroups`. Groups of which no dead letter is skipped are counted by their size, and every
   * other fitting dead letter by its row. Null where the filter needs more than a group's common fields, or where every
   * fitting dead letter needs its row.
   */
  groupsAsked(): Pick<GroupCountsQuery, "apart" | "newestOf" | "newest"> | null {
    if (!this.#isOfGroup) return null;
    const fitting = [...this.#groups].filter(([, { fits }]) => fits);
    const idsOf = (isSummed: boolean) =>
      fitting.flatMap(([id, { leavesNone }]) => (leavesNone === isSummed ? [id] : []));
    const [apart, newestOf] = [idsOf(false), idsOf(true)];
    return apart.length > 0 && newestOf.length === 0 ? null : { apart, newestOf, newest: SAMPLES };
  }

  /** Takes dead letters by the size of their group, as `groupsAsked` asked. Returns as `takeRows`. */
  takeGroups({ counts, apart, newest }: GroupCounts): readonly ProjectionCursor[] {
    for (const [id, count] of counts) {
      this.looked += count;
      const group = this.#groups.get(id);
      if (group?.fits !== true) continue;
      this.matched += count;
      group.count.count += count;
    }
    for (const deadLetter of newest) this.#keepNewest(deadLetter);
    return apart.flatMap((rows) => this.takeRows(rows.partition, rows));
  }

  /** Takes dead letters by their rows. Returns the places of the dead letters that must be taken whole. */
  takeRows(partition: number, rows: DeadLetterRows): readonly ProjectionCursor[] {
    const whole: ProjectionCursor[] = [];
    const leftOut = { ...this.leftOut };
    const leave = this.#left.of(partition);
    eachRow(rows, partition, (row) => {
      const group = this.#groups.get(row.groupId);
      const fits = group?.fits === true && this.#fitsRow(row);
      if (group === undefined || fits === false) return;
      const cause = fits === null ? undefined : group.causeOf(row);
      if (cause === null) this.#matchRow(group, row);
      else if (cause === undefined) whole.push(cursorOf(row));
      else {
        leftOut[cause] += 1;
        leave(row.offset);
      }
    });
    this.leftOut = leftOut;
    this.looked += lengthOfRows(rows) - whole.length;
    return whole;
  }

  /** Offers a dead letter as a sample; the newest are kept. */
  sample(deadLetter: DeadLetterFacts): void {
    const sampled = this.#sampled;
    const last = sampled.at(-1);
    if (sampled.length === SAMPLES && last !== undefined && !isNewer(timed(deadLetter), timed(last))) return;
    sampled.push(deadLetter);
    sampled.sort((a, b) => (isNewer(timed(a), timed(b)) ? -1 : 1)).splice(SAMPLES);
  }

  /** Leaves places out, which no replay of the plan is to send. */
  leave(partition: number, offsets: readonly number[]): void {
    const leave = this.#left.of(partition);
    for (const offset of offsets) leave(offset);
  }

  /** A purge names whatever fits and was not purged. */
  async #judge(fitting: readonly JudgedDeadLetter[]): Promise<readonly (SkipCause | null)[]> {
    const { judge, past } = this.#parts;
    if (this.plan.purpose === "replay") return judge.judge(fitting, judgingOf(this.plan));
    const isPurged = past.purged();
    return fitting.map(({ facts }) => (isPurged(facts) ? "purged" : null));
  }

  #match({ facts }: JudgedDeadLetter): void {
    const { destinationId, reason, type, errors } = facts;
    this.matched += 1;
    this.sample(facts);
    this.#countOf({ destinationId, reason, error: errors[0] ?? null, type }).count += 1;
  }

  #matchRow({ count }: GroupCount, row: DeadLetterRow): void {
    this.matched += 1;
    count.count += 1;
    this.#keepNewest(row);
  }

  /**
   * Keeps a row if it is among the newest. It runs for each of a million rows, mostly in the order of their times, and
   * makes no new objects.
   */
  #keepNewest(row: Omit<ProjectionCursor, "place">): void {
    const newest = this.#newest;
    const last = newest.at(-1);
    const isFull = newest.length === SAMPLES;
    if (isFull && last !== undefined && !isNewer(row, last)) return;
    const kept: KeptCursor = (isFull ? newest.pop() : undefined) ?? { timeMs: 0, partition: 0, offset: 0, place: 0 };
    kept.timeMs = row.timeMs;
    kept.partition = row.partition;
    kept.offset = row.offset;
    let at = newest.push(kept) - 1;
    for (let before = newest[at - 1]; before !== undefined && isNewer(kept, before); before = newest[at - 1]) {
      newest[at] = before;
      at -= 1;
      newest[at] = kept;
    }
  }

  #countOf(named: Omit<DeadLetterCount, "count">): Counted {
    const name = JSON.stringify([named.destinationId, named.reason, named.error, named.type]);
    const held = this.#counts.get(name) ?? { ...named, count: 0 };
    this.#counts.set(name, held);
    return held;
  }
}

/** Whether a dead letter comes before another in the order of `newestFirst`; here each dead letter has one place. */
function isNewer(one: Omit<ProjectionCursor, "place">, other: Omit<ProjectionCursor, "place">): boolean {
  if (one.timeMs !== other.timeMs) return one.timeMs > other.timeMs;
  return one.partition === other.partition ? one.offset > other.offset : one.partition > other.partition;
}

function timed({ deadAtMs: timeMs, partition, offset }: DeadLetterFacts): Omit<ProjectionCursor, "place"> {
  return { timeMs, partition, offset };
}

function cursorOf({ timeMs, partition, offset }: DeadLetterRow): ProjectionCursor {
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
    ofGroup: (deadLetters) => {
      const isPurged = purged(deadLetters);
      return {
        leavesNone: isPurged === null,
        causeOf: (row) => {
          const answer = isPurged === null ? false : isPurged(row);
          return answer === null ? undefined : answer ? "purged" : null;
        },
      };
    },
  };
}
