/**
 * Dead letters from the read model, to count them.
 *
 * Owns nothing.
 */
import {
  type DeadLetterFacts,
  type DeadLetterFilter,
  deadLetterCheck,
} from "@posthaste/core/replay/dead-letter-filter";
import type { PlannedRange } from "@posthaste/core/replay/replay-plan";
import { judgedFromEntry } from "@posthaste/read-model/dead-letter-entry";
import { deadLetterTexts } from "@posthaste/read-model/entry-texts";
import type { ProjectionCursor, ProjectionEntry } from "@posthaste/read-model/projection-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";

const PROJECTION = "dead_letters";
/** How many entries one query answers at the most, and how many it looks through. */
const STEP = 2000;
const LOOK_THROUGH = 20_000;

/** A dead letter as the read model has it. */
export interface ListedDeadLetter {
  readonly facts: DeadLetterFacts;
  /** The URLs that were dead. */
  readonly urls: readonly string[];
  /** See ProjectionEntry. */
  readonly users: string;
}

export type DeadLettersReadModel = Pick<
  ReadModel,
  | "search"
  | "at"
  | "heldDeadLetters"
  | "deadLetterHours"
  | "groupedDeadLetters"
  | "deadLetterEvent"
  | "deadLetterRows"
  | "groupCounts"
>;

/**
 * The part of each range of which the read model has every dead letter; none where that is not known, or the topic is
 * another.
 */
export async function heldRanges(
  readModel: DeadLettersReadModel,
  topicId: string | null,
  ranges: readonly PlannedRange[],
): Promise<readonly PlannedRange[]> {
  const held = await readModel.heldDeadLetters();
  if (topicId === null || topicId === "" || held.topicId !== topicId) return [];
  return ranges.flatMap(({ partition, start, end }) => {
    const found = held.ranges.find((each) => each.partition === partition);
    if (found === undefined) return [];
    const [from, to] = [Math.max(start, found.from), Math.min(end, found.next)];
    return from < to ? [{ partition, start: from, end: to }] : [];
  });
}

/** About how many dead letters must be looked at for the filter, by the counts of each hour. */
export async function someListed(
  readModel: Pick<DeadLettersReadModel, "deadLetterHours">,
  { destinationId, reason, sinceMs = 0, untilMs = Number.POSITIVE_INFINITY }: DeadLetterFilter,
): Promise<number> {
  const hours = await readModel.deadLetterHours({ destinationId, kind: reason });
  return hours
    .filter(({ firstMs, lastMs }) => lastMs >= sinceMs && firstMs < untilMs)
    .reduce((sum, { count }) => sum + count, 0);
}

export function listedFrom(entries: readonly ProjectionEntry[]): readonly ListedDeadLetter[] {
  return entries.map((entry) => ({ ...judgedFromEntry(entry), users: entry.users }));
}

/** The dead letters of the ranges that fit the filter, in no order. */
export async function* listedDeadLetters(
  readModel: Pick<DeadLettersReadModel, "search">,
  filter: DeadLetterFilter,
  ranges: readonly PlannedRange[],
): AsyncGenerator<readonly ListedDeadLetter[]> {
  if (ranges.length === 0) return;
  const { destinationId, reason, sinceMs, untilMs } = filter;
  const fits = deadLetterCheck(filter);
  const byPartition = new Map(ranges.map((range) => [range.partition, range]));
  const isIn = ({ partition, offset }: DeadLetterFacts): boolean => {
    const range = byPartition.get(partition);
    return range !== undefined && offset >= range.start && offset < range.end;
  };
  const indexed = { destinationId, kind: reason, sinceMs, untilMs, anyAge: true };
  const asked = { ...indexed, texts: deadLetterTexts(filter), limit: STEP, lookThrough: LOOK_THROUGH };
  // The dead letters of a message are found by its id, however many others there are.
  for (const messageId of new Set(filter.messageIds ?? [undefined])) {
    let after: ProjectionCursor | undefined;
    do {
      const { entries, end } = await readModel.search(PROJECTION, { ...asked, messageId, after });
      const deadLetters = listedFrom(entries).filter(({ facts }) => isIn(facts) && fits(facts));
      if (deadLetters.length > 0) yield deadLetters;
      after = end ?? undefined;
    } while (after !== undefined);
  }
}
