/** How those destinations are that stand on a page: of a thousand they alone are asked for. */
import { type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import type { DestinationHealthPage } from "../api/api-types.ts";
import { call } from "../api/client.ts";

type Health = DestinationHealthPage["data"][number];

export const HEALTH_KEY = ["GET /v1/health/destinations", "together"] as const;

function healthOf(together: string) {
  return queryOptions({
    queryKey: [...HEALTH_KEY, together],
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
