/** The health of all destinations, or of those that a page names. */
import { type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import type { DestinationHealthPage } from "../api/api-types.ts";
import { call } from "../api/client.ts";
import { everyPage } from "../names/names.ts";

type Health = DestinationHealthPage["data"][number];

const PAGE = 200;

/** By id; empty where it could not be read, so that the destinations stand there without it. */
export const allHealth = queryOptions({
  queryKey: ["GET /v1/health/destinations", "all"],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, Health>> => {
    const all = await everyPage<Health>((cursor) =>
      call("GET /v1/health/destinations", { query: { limit: PAGE, cursor }, signal }),
    );
    return new Map(all.map((each) => [each.destinationId, each]));
  },
  retry: false,
});

function healthOf(together: string) {
  return queryOptions({
    queryKey: ["GET /v1/health/destinations", "together", together],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, Health>> => {
      const limit = together.split(",").length;
      const { data } = await call("GET /v1/health/destinations", { query: { ids: together, limit }, signal });
      return new Map(data.map((each) => [each.destinationId, each]));
    },
    enabled: together !== "",
  });
}

/**
 * Reads their health, 200 at the most, so that later rows have it; returns the ids to ask `useHealthOf` with. A row
 * stands without it where it could not be read.
 */
export async function readHealth(client: QueryClient, ids: Iterable<string>): Promise<string> {
  const together = [...new Set(ids)].join(",");
  if (together !== "") await client.prefetchQuery(healthOf(together));
  return together;
}

/** Undefined while it is not known. */
export function useHealthOf(id: string, together: string): Health | undefined {
  return useQuery(healthOf(together)).data?.get(id);
}
