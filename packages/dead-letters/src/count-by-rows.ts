/**
 * Counts the dead letters of a plan by their rows in the read model, or by the size of their group and the rows
 * of those alone that something sets apart, where these are few. A dead letter whose row does not tell enough is
 * counted whole.
 *
 * Owns nothing.
 */
import type { DeadLetterFilter } from "@posthaste/core/replay/dead-letter-filter";
import type { PlannedRange } from "@posthaste/core/replay/replay-plan";
import { lastOffset, lengthOfRows } from "@posthaste/read-model/dead-letter-rows";
import type { ProjectionCursor } from "@posthaste/read-model/projection-entry";
import { type DeadLettersReadModel, listedFrom } from "./listed-dead-letters.ts";
import type { PlanCount } from "./plan-count.ts";

const PROJECTION = "dead_letters";
/** How many rows are asked for at a time: a few milliseconds of either thread. */
const STEP = 20_000;
/**
 * The most rows that may be looked at beside the counts of groups, in one call: some tens of milliseconds
 * of the store's thread. Beyond that all rows are read, in steps.
 */
const MOST_APART = 20_000;
/** How many whole dead letters are asked for at a time. */
const WHOLE_STEP = 2000;
/** A whole dead letter takes as long as about this many rows. */
const WHOLE_COSTS = 20;

/** Whether a count by rows is the shorter way, where about `some` of `all` dead letters may fit. */
export function isCountedByRows(filter: DeadLetterFilter, some: number, all: number): boolean {
  // The dead letters of a message are found by its id.
  return filter.messageIds === undefined && some * WHOLE_COSTS >= all;
}

/** Counts the dead letters of the ranges, of which the read model has all; ends early when `signal` says so. */
export async function countRows(
  readModel: DeadLettersReadModel,
  count: PlanCount,
  ranges: readonly PlannedRange[],
  signal: AbortSignal,
): Promise<void> {
  if (ranges.length === 0) return;
  const { event } = count.plan.filter;
  const eventId = event === undefined ? null : await readModel.deadLetterEvent(event);
  const withUsers = count.beginRows(await readModel.groupedDeadLetters(), eventId);
  if (!(await countGroups(readModel, count, ranges))) {
    for (const range of ranges) {
      if (!signal.aborted) await countRange(readModel, { count, withUsers, range }, signal);
    }
  }
  const newest = listedFrom(await readModel.at(PROJECTION, count.newestRows));
  for (const { facts } of newest) count.sample(facts);
}

/** Counts by the size of their group; false, with nothing counted, where all rows must be read. */
async function countGroups(
  readModel: DeadLettersReadModel,
  count: PlanCount,
  ranges: readonly PlannedRange[],
): Promise<boolean> {
  const asked = count.groupsAsked();
  if (asked === null) return false;
  const counted = await readModel.groupCounts({ ...asked, ranges, most: MOST_APART });
  if (counted === null) return false;
  await takeWhole(readModel, count, count.takeGroups(counted));
  return true;
}

async function takeWhole(
  readModel: DeadLettersReadModel,
  count: PlanCount,
  whole: readonly ProjectionCursor[],
): Promise<void> {
  for (let from = 0; from < whole.length; from += WHOLE_STEP) {
    await count.take(listedFrom(await readModel.at(PROJECTION, whole.slice(from, from + WHOLE_STEP))));
  }
}

interface CountedRange {
  readonly count: PlanCount;
  readonly withUsers: boolean;
  readonly range: PlannedRange;
}

async function countRange(
  readModel: DeadLettersReadModel,
  { count, withUsers, range }: CountedRange,
  signal: AbortSignal,
): Promise<void> {
  const { partition, start, end } = range;
  const ask = (from: number) => readModel.deadLetterRows({ partition, start: from, end, limit: STEP, withUsers });
  let asked = ask(start);
  for (;;) {
    const rows = await asked;
    const last = lastOffset(rows);
    const goesOn = last !== undefined && lengthOfRows(rows) === STEP && !signal.aborted;
    if (goesOn) {
      // The next rows are read while these are counted.
      asked = ask(last + 1);
      asked.catch(() => undefined);
    }
    await takeWhole(readModel, count, count.takeRows(partition, rows));
    if (!goesOn) return;
  }
}
