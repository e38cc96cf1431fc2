import { useQuery } from "@tanstack/react-query";
import type { Operations } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import type { ReplayFilterKey } from "../../dead-letters/replay-filter.ts";
import type { Filter } from "../../listing/filter.ts";

/** The most that one page may hold. */
const MOST_GROUPS = 200;

export interface Span {
  readonly from: string;
  readonly to: string;
}

/** When the first and the last fitting dead letters died; undefined while it is not known, null where it cannot be. */
export function useSpan({ again: _, ...filter }: Filter<ReplayFilterKey>): Span | null | undefined {
  // Control reports values of the address that do not fit.
  const query = { ...(filter as Operations["GET /v1/dead-letters/groups"]["query"]), limit: MOST_GROUPS };
  const { data, isPending } = useQuery(asked("GET /v1/dead-letters/groups", { query }));
  if (isPending) return undefined;
  const [first] = data?.data ?? [];
  if (data === undefined || first === undefined || data.nextCursor !== null) return null;
  const ends = { from: first.firstAt, to: first.lastAt };
  for (const { firstAt, lastAt } of data.data) {
    if (Date.parse(firstAt) < Date.parse(ends.from)) ends.from = firstAt;
    if (Date.parse(lastAt) > Date.parse(ends.to)) ends.to = lastAt;
  }
  return ends;
}
