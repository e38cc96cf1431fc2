/** Finds in the audit who sent deliveries again by hand. */
import type { AuditJournal } from "../audit/audit-journal.ts";
import type { JudgedEvent } from "./event-verdict.ts";

/** By the resend's id, the name of the token that asked for it. */
export type ResentBy = ReadonlyMap<string, string>;

/** How long, in ms, the audit may take to answer; after that the answer goes without it. */
const PATIENCE_MS = 1000;

/** False for the id of a replay. */
export function isResend(replayId: string): boolean {
  return replayId.startsWith("rsd_");
}

/** The resends of all deliveries of these events. */
export function resendsOf(judged: readonly JudgedEvent[]): ReadonlySet<string> {
  const deliveries = judged.flatMap((each) => ("routed" in each ? [...each.routed.deliveries.values()] : []));
  const ids = deliveries.flatMap(({ attempts, deferrals, letters, unfinished }) =>
    [...attempts, ...deferrals, ...letters, ...unfinished].flatMap(({ replayId }) => replayId ?? []),
  );
  return new Set(ids.filter(isResend));
}

/** What the audit does not know is left out. */
export async function whoResent(judged: readonly JudgedEvent[], audit: Pick<AuditJournal, "page">): Promise<ResentBy> {
  const ids = resendsOf(judged);
  if (ids.size === 0) return new Map();
  const query = { limit: ids.size, fits: ({ target }: { readonly target: string }) => ids.has(target) };
  const page = await audit.page(query, PATIENCE_MS).catch(() => null);
  return new Map(page?.entries.map(({ target, actor }) => [target, actor]));
}
