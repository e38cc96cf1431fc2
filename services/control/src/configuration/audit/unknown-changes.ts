/**
 * Changes of which the audit has no entry: a record that somebody wrote straight into a topic of the configuration, or
 * one from before there was an audit. Nobody is known to have made them.
 */

import type { AuditLog, AuditPage, HeldEntry } from "@posthaste/configuration/audit-log";
import type { AuditedChange } from "@posthaste/core/access/audit-entry";

/** The name of an unknown author, and of the unknown way by which the change was asked for. */
export const UNKNOWN = "unknown";
/**
 * The most ms between a revision and its entry in the audit, which go in one send: as long as a change may take. A
 * revision is not judged before it is so old, since its entry may still be on its way.
 */
const APART_MS = 10_000;
/** The most entries that are compared with revisions. */
const MOST_ENTRIES = 2000;
/** The most entries, and the most revisions, that a question without a target looks through. */
const MOST_LOOKED = 5000;
const MOST_REVISIONS = 500;
/** The number of entries newer than a page that are looked at too: the entries of its revisions may stand there. */
const BESIDE = 1000;
/** How far the clocks of those who write the audit may be apart, in ms. */
const CLOCKS_APART_MS = 10 * 60_000;

export interface ConfigRevision {
  readonly revision: number;
  readonly atMs: number;
  readonly isRemoval: boolean;
  /** The fields that are known to differ from the revision before. */
  readonly changes: readonly AuditedChange[];
}

/** A revision, of whatever it is. */
export interface NamedRevision extends Pick<ConfigRevision, "revision" | "atMs"> {
  readonly target: string;
}

/** Neither rejects. */
export interface ConfigRevisions {
  /** The revisions of the thing with this id, the newest first; none for an id of another kind of thing. */
  of(id: string): Promise<readonly ConfigRevision[]>;
  /** The newest revisions of everything that are no newer than a moment, in no order. */
  newest(untilMs: number, limit: number): Promise<readonly NamedRevision[]>;
}

export interface UnknownChange {
  readonly revision: number;
  readonly atMs: number;
  readonly actor: typeof UNKNOWN;
  readonly tokenId: null;
  readonly operation: "change" | "remove";
  readonly target: string;
  readonly changes: ConfigRevision["changes"];
}

export interface UnknownChangesParts {
  readonly auditLog: Pick<AuditLog, "page">;
  readonly revisions: ConfigRevisions;
  readonly nowMs: () => number;
}

/** Which unknown changes are asked for. */
export interface UnknownAsked {
  /** The id of the changed thing; absent for everything. */
  readonly target?: string | undefined;
  readonly from: AuditPlace;
  /** How many a page has at the most. */
  readonly limit: number;
}

/** The newest first. Rejects with `deadline_exceeded`. */
export async function findUnknownChanges(
  { target, from, limit }: UnknownAsked,
  parts: UnknownChangesParts,
  timeoutMs: number,
): Promise<readonly UnknownChange[]> {
  const { revisions } = parts;
  if (target !== undefined) {
    const all = await revisions.of(target);
    if (all.length === 0) return [];
    const looked = await lookThrough(new Set([target]), undefined, parts, timeoutMs);
    return unknownAmong(target, all, looked).sort(unknownOrder);
  }
  const fromMs = from.untilMs === null ? Number.MAX_SAFE_INTEGER : from.untilMs + CLOCKS_APART_MS;
  const newest = await revisions.newest(fromMs, MOST_REVISIONS);
  if (newest.length === 0) return [];
  const byTarget = groupedByTarget(newest);
  const looked = await lookThrough(byTarget.keys(), from, parts, timeoutMs);
  const suspects = [...byTarget]
    .flatMap(([id, some]) => withoutEntry(some, looked.entriesOf(id)).filter(looked.isJudged).slice(0, 1))
    .sort(unknownOrder)
    .slice(0, limit);
  // A revision may be one that tables ignored, which its predecessors tell.
  const found = await Promise.all(
    suspects.map(async ({ target: id }) => unknownAmong(id, await revisions.of(id), looked)),
  );
  return found.flat().sort(unknownOrder);
}

interface Looked {
  readonly entriesOf: (target: string) => readonly HeldEntry[];
  /** Whether the entry of a revision of that moment was looked for, and would have come. */
  readonly isJudged: (revision: Pick<ConfigRevision, "atMs">) => boolean;
}

/** `from`: where the page begins; undefined to look through as much as a query may. */
async function lookThrough(
  targets: Iterable<string>,
  from: AuditPlace | undefined,
  { auditLog, nowMs }: UnknownChangesParts,
  timeoutMs: number,
): Promise<Looked> {
  const wanted = new Set(targets);
  let oldestMs = Number.POSITIVE_INFINITY;
  const fits = (entry: HeldEntry): boolean => {
    oldestMs = Math.min(oldestMs, entry.atMs);
    return wanted.has(entry.target);
  };
  const bounds = from === undefined ? {} : { below: from.below + BESIDE, most: MOST_LOOKED };
  const page = await auditLog.page({ limit: MOST_ENTRIES, fits, ...bounds }, timeoutMs);
  // A revision older than the oldest entry that was looked at may have had an entry.
  const sinceMs = page.below === null && page.isWhole ? Number.NEGATIVE_INFINITY : oldestMs;
  const untilMs = nowMs() - APART_MS;
  const byTarget = groupedByTarget(page.entries);
  return {
    entriesOf: (target) => byTarget.get(target) ?? [],
    isJudged: ({ atMs }) => atMs >= sinceMs && atMs <= untilMs,
  };
}

function groupedByTarget<T extends { readonly target: string }>(all: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const each of all) {
    const group = groups.get(each.target);
    if (group === undefined) groups.set(each.target, [each]);
    else group.push(each);
  }
  return groups;
}

function unknownAmong(target: string, all: readonly ConfigRevision[], looked: Looked): UnknownChange[] {
  return withoutEntry(all, looked.entriesOf(target))
    .filter(looked.isJudged)
    .map(({ isRemoval, ...revision }) => ({
      ...{ ...revision, actor: UNKNOWN, tokenId: null, target },
      operation: isRemoval ? "remove" : "change",
    }));
}

/**
 * Returns the revisions that are left when each entry has accounted for one. An entry accounts for the revision that it
 * names. An entry from before accounts for one that no other entry names, the nearest in time first.
 */
export function withoutEntry<T extends Pick<ConfigRevision, "revision" | "atMs">>(
  revisions: readonly T[],
  entries: readonly Pick<HeldEntry, "atMs" | "revision">[],
): readonly T[] {
  const named = new Set(entries.map(({ revision }) => revision));
  const [unnamed, before] = [
    revisions.filter(({ revision }) => !named.has(revision)),
    entries.filter((entry) => entry.revision === null),
  ];
  const pairs = unnamed
    .flatMap((revision) => {
      const near = before.filter((entry) => apartMsOf(revision, entry) <= APART_MS);
      return near.map((entry) => ({ revision, entry, apartMs: apartMsOf(revision, entry) }));
    })
    .sort((a, b) => a.apartMs - b.apartMs);
  const accounted = new Set<object>();
  for (const { revision, entry } of pairs) {
    if (accounted.has(revision) || accounted.has(entry)) continue;
    accounted.add(revision).add(entry);
  }
  return unnamed.filter((revision) => !accounted.has(revision));
}

function apartMsOf(revision: Pick<ConfigRevision, "atMs">, entry: Pick<HeldEntry, "atMs">): number {
  return Math.abs(revision.atMs - entry.atMs);
}

/** The fields that order unknown changes. */
export type UnknownPlace = Pick<UnknownChange, "atMs" | "target" | "revision">;

/** Below 0 where `one` comes before `other`. */
export function unknownOrder(one: UnknownPlace, other: UnknownPlace): number {
  const byTarget = one.target < other.target ? -1 : Number(one.target > other.target);
  return other.atMs - one.atMs || byTarget || other.revision - one.revision;
}

/** Where a page begins: below an offset of the audit, and behind an unknown change. */
export interface AuditPlace {
  readonly below: number;
  /** Null where none was shown yet. */
  readonly behind: UnknownPlace | null;
  /** About when the page before ended, ms since the epoch; null where the page is the first. */
  readonly untilMs: number | null;
}

export interface MergedPage {
  /** Newest first. */
  readonly rows: readonly (HeldEntry | UnknownChange)[];
  /** Null on the last page. */
  readonly next: AuditPlace | null;
}

/** Puts the unknown changes of a page's time among its entries. */
export function mergedPage(
  page: Pick<AuditPage, "entries" | "below" | "searchedToMs">,
  unknown: readonly UnknownChange[],
  { from, limit }: { readonly from: AuditPlace; readonly limit: number },
): MergedPage {
  const downToMs =
    page.below === null ? Number.NEGATIVE_INFINITY : (page.searchedToMs ?? page.entries.at(-1)?.atMs ?? 0);
  const isLeft = (each: UnknownChange): boolean => from.behind === null || unknownOrder(each, from.behind) > 0;
  const left = { entries: [...page.entries], unknown: unknown.filter(isLeft) };
  const rows: (HeldEntry | UnknownChange)[] = [];
  let { below, behind, untilMs } = from;
  while (rows.length < limit) {
    const [[entry], [change]] = [left.entries, left.unknown];
    if (change !== undefined && change.atMs >= downToMs && (entry === undefined || change.atMs > entry.atMs)) {
      left.unknown.shift();
      rows.push(change);
      behind = { atMs: change.atMs, target: change.target, revision: change.revision };
    } else if (entry !== undefined) {
      left.entries.shift();
      rows.push(entry);
      below = entry.offset;
      untilMs = entry.atMs;
    } else break;
  }
  const isRead = left.entries.length === 0;
  if (isRead && page.below === null && left.unknown.length === 0) return { rows, next: null };
  if (isRead) untilMs = page.searchedToMs ?? untilMs;
  return { rows, next: { below: isRead ? (page.below ?? 0) : below, behind, untilMs } };
}
