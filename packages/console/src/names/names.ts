/** Names of destinations and sources, by their ids: other lists have ids alone. */
import { OPERATIONS_SOURCE } from "@posthaste/core/config/source";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Destination, Source } from "../api/api-types.ts";
import { call } from "../api/client.ts";

/** The most that one page may hold. */
const PAGE = 200;
const STALE_MS = 60_000;

/** All destinations, a page after another. */
export const allDestinations = queryOptions({
  queryKey: ["GET /v1/destinations", "all"],
  queryFn: ({ signal }) =>
    everyPage<Destination>((cursor) => call("GET /v1/destinations", { query: { limit: PAGE, cursor }, signal })),
  staleTime: STALE_MS,
});

/** All sources, a page after another. */
export const allSources = queryOptions({
  queryKey: ["GET /v1/sources", "all"],
  queryFn: ({ signal }) =>
    everyPage<Source>((cursor) => call("GET /v1/sources", { query: { limit: PAGE, cursor }, signal })),
  staleTime: STALE_MS,
});

/** Returns the name of a destination or source; its id where it has none, or none yet. */
export function useNames(): (id: string) => string {
  return useNaming().nameOf;
}

export interface Naming {
  readonly nameOf: (id: string) => string;
  /** Names are known, as far as they can be: the text beside one moves no more. */
  readonly isSettled: boolean;
}

/** `isWanted`: nothing is asked for where nothing is named. */
export function useNaming(isWanted = true): Naming {
  const { data: destinations, isPending: areDestinationsPending } = useQuery({ ...allDestinations, enabled: isWanted });
  const { data: sources, isPending: areSourcesPending } = useQuery({ ...allSources, enabled: isWanted });
  return useMemo(
    () => namingOf([...(destinations ?? []), ...(sources ?? [])], !areDestinationsPending && !areSourcesPending),
    [destinations, sources, areDestinationsPending, areSourcesPending],
  );
}

/** The same of sources alone: of a thousand destinations nothing is waited for. */
export function useSourceNaming(): Naming {
  const { data: sources, isPending } = useQuery(allSources);
  return useMemo(() => namingOf(sources ?? [], !isPending), [sources, isPending]);
}

function namingOf(named: readonly { readonly id: string; readonly name: string }[], isSettled: boolean): Naming {
  const names = new Map([OPERATIONS_SOURCE, ...named].map(({ id, name }) => [id, name]));
  return { nameOf: (id) => names.get(id) ?? id, isSettled };
}

/** All entries of a list, a page after another. */
export async function everyPage<Entry>(
  read: (
    cursor: string | undefined,
  ) => Promise<{ readonly data: readonly Entry[]; readonly nextCursor: string | null }>,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    entries.push(...page.data);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return entries;
}
