/** A list that is looked at again and again: each entry is printed once, in the order in which they came. */
import type { Context } from "../context.ts";
import type { Entry } from "../printer.ts";
import { GIVE_UP_MS, keepAsking } from "./keep-asking.ts";

const LOOK_MS = 1000;
const PAGE = 200;

export interface FollowOptions {
  /** A list, newest first, whose entries have an `id` that rises. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** How many are printed at first. */
  readonly limit: number;
  readonly print: (entries: readonly Entry[]) => void;
}

/** Ends with Ctrl-C, and rejects when control does not answer for a minute. */
export function followEntries(context: Context, options: FollowOptions): Promise<never> {
  let newest: number | null = null;
  return keepAsking(context, {
    everyMs: LOOK_MS,
    giveUpMs: GIVE_UP_MS,
    ask: async () => {
      const found: readonly Entry[] = await entriesSince(context, options, newest);
      if (found.length > 0) options.print(found.toReversed());
      newest = Number(found[0]?.id ?? newest ?? -1);
    },
  });
}

/** Newest first; at first as many as are wanted, then all that came since. */
async function entriesSince(
  { api }: Context,
  { path, query, limit }: FollowOptions,
  newest: number | null,
): Promise<readonly Entry[]> {
  const most = newest === null ? limit : Number.POSITIVE_INFINITY;
  const found: Entry[] = [];
  let cursor: string | null = null;
  do {
    const asked = new URLSearchParams({ ...query, limit: String(Math.min(PAGE, most - found.length)) });
    if (cursor !== null) asked.set("cursor", cursor);
    const { data, nextCursor } = await api.call("GET", `${path}?${asked}`);
    const entries: readonly Entry[] = Array.isArray(data) ? data : [];
    const newer = entries.filter(({ id }) => newest === null || Number(id) > newest);
    found.push(...newer);
    // What was seen before ends it.
    cursor = typeof nextCursor === "string" && newer.length === entries.length ? nextCursor : null;
  } while (cursor !== null && found.length < most);
  return found;
}
