/**
 * Groups of dead letters with the same cause, and its remedy. The group with the most open dead letters comes first, of
 * equal ones the largest. Groups of one size are in the order of their names.
 */
import type { DeadLetterFilter } from "@posthaste/core/replay/dead-letter-filter";
import { deadLetterPlace } from "@posthaste/core/replay/dead-letter-filter";
import { deadLetterFromEntry, factsFromEntry, type ListedDeadLetter } from "@posthaste/read-model/dead-letter-entry";
import type { DeadLetterState } from "@posthaste/read-model/dead-letter-mark";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import type { VisibleDeadLetters, VisibleHour } from "./visible-dead-letters.ts";

const HOUR_MS = 60 * 60 * 1000;

export interface DeadLetterGroup {
  readonly destinationId: string;
  readonly reason: ListedDeadLetter["reason"];
  readonly reasonClass: ListedDeadLetter["reasonClass"];
  /** The error of the first URL; null where there was no attempt. */
  readonly error: string | null;
  /** All of its dead letters; those that are neither open nor delivered since died again. */
  readonly count: number;
  readonly open: number;
  readonly deliveredSince: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** The place of the group's newest dead letter. */
  readonly sample: string;
  /** Counts by the beginning of their hour. */
  readonly hours: Map<number, GroupHour>;
}

export type GroupHour = Pick<DeadLetterGroup, "count" | "open">;

/** The place of the last group of a page. */
export interface GroupPlace {
  readonly open: number;
  readonly count: number;
  readonly name: string;
}

export interface GroupPage {
  readonly groups: readonly DeadLetterGroup[];
  /** Null on the last page. */
  readonly next: GroupPlace | null;
  /** The number of groups on all pages. */
  readonly total: number;
}

type DeadLettersToGroup = Pick<VisibleDeadLetters, "hours" | "shown" | "stateOf">;

export interface GroupQuery {
  readonly filter: DeadLetterFilter;
  readonly limit: number;
  readonly after: GroupPlace | undefined;
}

/**
 * One page of groups. Each page counts them anew: a group that grows or shrinks between two pages may be on both, or on
 * neither.
 */
export async function groupDeadLetters(
  deadLetters: DeadLettersToGroup,
  { filter, limit, after }: GroupQuery,
): Promise<GroupPage> {
  const groups = new Map<string, DeadLetterGroup>();
  const counted = await deadLetters.hours(filter);
  for (const hour of counted ?? []) addHour(groups, hour);
  if (counted === null) {
    for await (const entry of deadLetters.shown(filter)) {
      addHour(groups, hourOf(entry, deadLetters.stateOf(entry)));
    }
  }
  const all = [...groups].map(([name, group]) => ({ name, open: group.open, count: group.count, group })).sort(compare);
  const rest = after === undefined ? all : all.filter((each) => compare(each, after) > 0);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const next = last !== undefined && rest.length > limit ? last : null;
  return { groups: page.map(({ group }) => group), next: next === null ? null : placeOf(next), total: all.length };
}

function placeOf({ open, count, name }: GroupPlace): GroupPlace {
  return { open, count, name };
}

function compare(a: GroupPlace, b: GroupPlace): number {
  if (a.open !== b.open) return b.open - a.open;
  if (a.count !== b.count) return b.count - a.count;
  if (a.name === b.name) return 0;
  return a.name < b.name ? -1 : 1;
}

/** A dead letter as an hour of its own. */
function hourOf(entry: ProjectionEntry, state: DeadLetterState): VisibleHour {
  const { destinationId, kind, timeMs } = entry;
  const { reasonClass } = deadLetterFromEntry(entry);
  const [error = null] = factsFromEntry(entry).errors;
  const hourMs = Math.floor(timeMs / HOUR_MS) * HOUR_MS;
  const named = { destinationId, kind, reasonClass, error, hourMs, sample: deadLetterPlace(entry) };
  const sums = { open: Number(state === "open"), deliveredSince: Number(state === "deliveredSince") };
  return { ...named, ...sums, count: 1, firstMs: timeMs, lastMs: timeMs };
}

const NONE: GroupHour = { count: 0, open: 0 };

function addHour(groups: Map<string, DeadLetterGroup>, hour: VisibleHour): void {
  const { destinationId, kind, reasonClass, error, hourMs, count, open, deliveredSince } = hour;
  const { firstMs, lastMs, sample } = hour;
  const name = JSON.stringify([destinationId, kind, reasonClass, error]);
  const none = { ...NONE, deliveredSince: 0, hours: new Map<number, GroupHour>() };
  const known = groups.get(name) ?? { ...none, firstMs, lastMs, sample };
  const before = known.hours.get(hourMs) ?? NONE;
  known.hours.set(hourMs, { count: before.count + count, open: before.open + open });
  groups.set(name, {
    // The projection holds the values that control wrote.
    ...{ destinationId, reason: kind as DeadLetterGroup["reason"], error, hours: known.hours },
    reasonClass: reasonClass as DeadLetterGroup["reasonClass"],
    count: known.count + count,
    open: known.open + open,
    deliveredSince: known.deliveredSince + deliveredSince,
    firstMs: Math.min(known.firstMs, firstMs),
    lastMs: Math.max(known.lastMs, lastMs),
    sample: lastMs > known.lastMs ? sample : known.sample,
  });
}

/** The remedy for a group that has no open dead letters, in words. */
export const NOTHING_LEFT = "nothing is left to do: they were delivered since, or died again as newer dead letters";

/** Returns the remedy for a group with open dead letters, in words. */
export function remedyOf({
  reason,
  reasonClass,
  error,
}: Pick<DeadLetterGroup, "reason" | "reasonClass" | "error">): string {
  switch (reason) {
    case "destination_disabled":
      return "turn the destination on, then replay";
    case "destination_removed":
      return "the destination is no more: purge them, or export them";
    case "address_refused":
      return "change the URL, or have an operator allow its network, then replay";
    case "suppressed":
      return "nothing: a deletion asked for it";
    case "rejected_by_receiver":
    case "window_expired":
    case "other":
      break;
  }
  if (error === "401" || error === "403") return "check the secret and the headers of the destination, then replay";
  if (reasonClass === "configuration") return "check the URL of the destination, then replay";
  if (reasonClass === "pipeline") return "look at delivery's log, then replay";
  switch (reason) {
    case "rejected_by_receiver":
      return "the receiver refuses what it is sent: mend it there, then replay";
    case "window_expired":
      // The schedule may have ended before the window, and a deferral may have taken the time of an attempt.
      return "the receiver did not take it before its retries ended: replay when it answers again";
    case "other":
      return "its reason is of a later release: look at what its URLs answered, then replay";
  }
}
