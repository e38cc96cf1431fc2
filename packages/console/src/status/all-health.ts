/** How every destination is, by its id. */
import { queryOptions } from "@tanstack/react-query";
import type { DestinationHealthPage } from "../api/api-types.ts";
import { call } from "../api/client.ts";
import { everyPage } from "../names/names.ts";

/** The most that one page may hold. */
const PAGE = 200;

type Health = DestinationHealthPage["data"][number];

export const allHealth = queryOptions({
  queryKey: ["GET /v1/health/destinations", "all"],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, Health>> => {
    const all = await everyPage<Health>((cursor) =>
      call("GET /v1/health/destinations", { query: { limit: PAGE, cursor }, signal }),
    );
    return new Map(all.map((each) => [each.destinationId, each]));
  },
});
