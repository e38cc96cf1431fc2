/**
 * Changes of which the audit has no entry: a record that somebody wrote straight into a topic of the configuration, or
 * one from before there was an audit. Nobody is known to have made them.
 */
import type { AuditedChange } from "@posthaste/core/access/audit-entry";
import type { AuditJournal, AuditPage, HeldEntry } from "./audit-journal.ts";

/** The name of whoever is not known, and of the way by which it was asked for. */
export const UNKNOWN = "unknown";
/**
 * The most ms between a revision and its entry in the audit, which go in one send: as long as a change may take. A
 * revision is not judged before it is so old, since its entry may still be on its way.
 */
const APART_MS = 10_000;
/** The most entries of one thing that are compared with its revisions. */
const MOST_ENTRIES = 2000;

export interface ConfigRevision {
  readonly revision: number;
  readonly atMs: number;
  readonly isRemoval: boolean;
  /** What is known to differ from the revision before. */
  readonly changes: readonly AuditedChange[];
}

/** Answers the revisions of what has this id, the newest first; none for an id of anything else. Never rejects. */
export type RevisionsOf = (id: string) => Promise<readonly ConfigRevision[]>;

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
  readonly journal: Pick<AuditJournal, "page">;
  readonly revisionsOf: RevisionsOf;
  readonly nowMs: () => number;
}

/** The newest first. Rejects with `deadline_exceeded`. */
export async function findUnknownChanges(
  target: string,
  { journal, revisionsOf, nowMs }: UnknownChangesParts,
  timeoutMs: number,
): Promise<readonly UnknownChange[]> {
  const all = await revisionsOf(target);
  if (all.length === 0) return [];
  let oldestMs = Number.POSITIVE_INFINITY;
  const fits = (entry: HeldEntry): boolean => {
    oldestMs = Math.min(oldestMs, entry.atMs);
    return entry.target === target;
  };
  const page = await journal.page({ limit: MOST_ENTRIES, fits }, timeoutMs);
  // What is older than the oldest entry that was looked at may have had one.
  const sinceMs = page.below === null && page.isWhole ? Number.NEGATIVE_INFINITY : oldestMs;
  const untilMs = nowMs() - APART_MS;
  return withoutEntry(all, page.entries)
    .filter(({ atMs }) => atMs >= sinceMs && atMs <= untilMs)
    .map(({ isRemoval, ...revision }) => ({
      ...{ ...revision, actor: UNKNOWN, tokenId: null, target },
      operation: isRemoval ? "remove" : "change",
    }));
}

/** The revisions that are left when each entry has accounted for one, the nearest in time first. */
export function withoutEntry(
  revisions: readonly ConfigRevision[],
  entries: readonly Pick<HeldEntry, "atMs">[],
): readonly ConfigRevision[] {
  const pairs = revisions
    .flatMap((revision) => {
      const near = entries.filter((entry) => apartMsOf(revision, entry) <= APART_MS);
      return near.map((entry) => ({ revision, entry, apartMs: apartMsOf(revision, entry) }));
    })
    .sort((a, b) => a.apartMs - b.apartMs);
  const accounted = new Set<object>();
  for (const { revision, entry } of pairs) {
    if (accounted.has(revision) || accounted.has(entry)) continue;
    accounted.add(revision).add(entry);
  }
  return revisions.filter((revision) => !accounted.has(revision));
}

function apartMsOf(revision: Pick<ConfigRevision, "atMs">, entry: Pick<HeldEntry, "atMs">): number {
  return Math.abs(revision.atMs - entry.atMs);
}

/** Where a page begins: below an offset of the audit, and below a revision. */
export interface AuditPlace {
  readonly below: number;
  readonly belowRevision: number;
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
  const left = { entries: [...page.entries], unknown: unknown.filter((each) => each.revision < from.belowRevision) };
  const rows: (HeldEntry | UnknownChange)[] = [];
  let { below, belowRevision } = from;
  while (rows.length < limit) {
    const [[entry], [change]] = [left.entries, left.unknown];
    if (change !== undefined && change.atMs >= downToMs && (entry === undefined || change.atMs > entry.atMs)) {
      left.unknown.shift();
      rows.push(change);
      belowRevision = change.revision;
    } else if (entry !== undefined) {
      left.entries.shift();
      rows.push(entry);
      below = entry.offset;
    } else break;
  }
  const isRead = left.entries.length === 0;
  if (isRead && page.below === null && left.unknown.length === 0) return { rows, next: null };
  return { rows, next: { below: isRead ? (page.below ?? 0) : below, belowRevision } };
}
