/** Lists in pages: `limit` and `cursor` in, `{data, nextCursor, asOf, complete}` out. */
import { z } from "zod";
import { freshness } from "./freshness.ts";
import { packCursor, unpackCursor } from "./list-cursor.ts";

export const pageQuery = z.strictObject({
  limit: z.coerce
    .number("expected a whole number from 1 to 200")
    .int("expected a whole number from 1 to 200")
    .min(1, "expected a whole number from 1 to 200")
    .max(200, "expected a whole number from 1 to 200")
    .default(50)
    .describe("Entries at the most."),
  cursor: z.string().optional().describe("`nextCursor` of the page before."),
});
export type PageQuery = z.output<typeof pageQuery>;

/** The answer's schema for entries of `entry`. */
export function pageOf<Entry extends z.ZodType>(entry: Entry) {
  return z.object({
    data: z.array(entry),
    nextCursor: z.string().nullable().describe("Null on the last page."),
    ...freshness,
  });
}

/** The order of a list: by the time at which an entry was made and, within one millisecond, by its id. */
export interface Listed {
  readonly id: string;
  readonly createdAtMs: number;
}

export interface Page<T> {
  readonly data: T[];
  readonly nextCursor: string | null;
}

export type ListOrder = "oldest_first" | "newest_first";

/**
 * One page of `all`. The cursor names the last entry of the page before, not a number of entries, so an entry that is
 * made or removed between two pages moves no other entry from one page to the next.
 */
export function pageFrom<T extends Listed>(
  all: Iterable<T>,
  { limit, cursor }: PageQuery,
  order: ListOrder = "oldest_first",
): Page<T> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  const inOrder = order === "oldest_first" ? compare : (a: Listed, b: Listed) => compare(b, a);
  const rest = [...all].filter((entry) => after === undefined || inOrder(entry, after) > 0).sort(inOrder);
  const data = rest.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: last !== undefined && rest.length > limit ? packCursor(last.createdAtMs, last.id) : null };
}

function compare(a: Listed, b: Listed): number {
  if (a.createdAtMs !== b.createdAtMs) return a.createdAtMs - b.createdAtMs;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

function decodeCursor(cursor: string): Listed {
  const [createdAtMs, id] = unpackCursor<[string, string]>(cursor, /^(\d{1,16}):(.+)$/);
  return { createdAtMs: Number(createdAtMs), id };
}
