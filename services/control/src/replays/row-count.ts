/**
 * Counts the letters of a plan by their rows in the read model. A letter whose row does not tell enough is counted
 * whole.
 *
 * Owns nothing.
 */
import type { LetterFilter } from "@posthaste/core/replay/letter-filter";
import type { PlannedRange } from "@posthaste/core/replay/replay-plan";
import { lastOffset, lengthOfRows } from "../read-model/letter-row.ts";
import { type LettersReadModel, listedFrom } from "./listed-letters.ts";
import type { PlanCount } from "./plan-count.ts";

const JOURNAL = "dead_letters";
/** How many rows are asked for at a time: a few milliseconds of either thread. */
const STEP = 20_000;
/** How many whole letters are asked for at a time. */
const WHOLE_STEP = 2000;
/** A whole letter takes as long as about this many rows. */
const WHOLE_COSTS = 20;

/** Whether a count by rows is the shorter way, where about `some` of `all` letters may fit. */
export function isCountedByRows(filter: LetterFilter, some: number, all: number): boolean {
  // The letters of a message are found by its id.
  return filter.messageIds === undefined && some * WHOLE_COSTS >= all;
}

/** Counts the letters of the ranges, of which the read model has all; ends early when `signal` says so. */
export async function countRows(
  readModel: LettersReadModel,
  count: PlanCount,
  ranges: readonly PlannedRange[],
  signal: AbortSignal,
): Promise<void> {
  if (ranges.length === 0) return;
  const { event } = count.plan.filter;
  const eventId = event === undefined ? null : await readModel.letterEvent(event);
  const withUsers = count.beginRows(await readModel.alikeLetters(), eventId);
  for (const range of ranges) {
    if (!signal.aborted) await countRange(readModel, { count, withUsers, range }, signal);
  }
  const newest = listedFrom(await readModel.at(JOURNAL, count.newestRows));
  for (const { facts } of newest) count.sample(facts);
}

interface CountedRange {
  readonly count: PlanCount;
  readonly withUsers: boolean;
  readonly range: PlannedRange;
}

async function countRange(
  readModel: LettersReadModel,
  { count, withUsers, range }: CountedRange,
  signal: AbortSignal,
): Promise<void> {
  const { partition, start, end } = range;
  const ask = (from: number) => readModel.letterRows({ partition, start: from, end, limit: STEP, withUsers });
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
    const whole = count.takeRows(partition, rows);
    for (let from = 0; from < whole.length; from += WHOLE_STEP) {
      await count.take(listedFrom(await readModel.at(JOURNAL, whole.slice(from, from + WHOLE_STEP))));
    }
    if (!goesOn) return;
  }
}
