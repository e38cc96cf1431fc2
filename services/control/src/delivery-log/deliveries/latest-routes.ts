/** Routes: each delivery once with its state, the newest first. */

import type { SuppressedUsers } from "@posthaste/core/deletion/suppression";
import { DELIVERY_STATES } from "@posthaste/core/verdict/delivery-state";
import { suppressedKeyCheck } from "@posthaste/deletions/suppressed-key";
import { freshAnswer } from "@posthaste/http-kit/freshness";
import { isoTimeOrNull } from "@posthaste/http-kit/moment";
import { pageOf } from "@posthaste/http-kit/page";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { deliveryFromEntry, type KnownDelivery } from "@posthaste/read-model/delivery-entry";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { z } from "zod";
import type { ResendAuthors } from "../../configuration/audit/resend-authors.ts";
import { type AttemptFilter, deliveryCheck } from "./attempt-filter.ts";
import { deliveryQuery, searchedTo } from "./delivery-routes.ts";
import { latestTexts } from "./filter-texts.ts";
import { filteredPage } from "./filtered-page.ts";
import { filteredOf, latestDelivery, viewLatest } from "./latest-view.ts";
import { decodeCursor, encodeCursor } from "./page-cursor.ts";

export interface LatestRoutesOptions {
  readonly readModel: ReadModel;
  readonly suppressed: SuppressedUsers;
  readonly authors: Pick<ResendAuthors, "of">;
  readonly nowMs: () => number;
}

/** The most sendings of one event to one destination that are looked at. */
const SENDINGS = 100;

const latestQuery = deliveryQuery.extend({
  outcome: deliveryQuery.shape.outcome.describe("What the newest attempt came to."),
  state: z
    .enum(DELIVERY_STATES, `expected one of ${DELIVERY_STATES.join(", ")}`)
    .optional()
    .describe("How the delivery stands."),
});

export function latestRoutes({ readModel, suppressed, authors, nowMs }: LatestRoutesOptions): readonly Route[] {
  const isSuppressed = suppressedKeyCheck(suppressed);
  return [
    defineRoute({
      method: "GET",
      path: "/v1/deliveries/latest",
      operation: "listLatestDeliveries",
      summary: "Each delivery once, with how it stands, newest first",
      query: latestQuery,
      answer: {
        status: 200,
        description: "One page of deliveries.",
        body: { name: "LatestDeliveryPage", schema: pageOf(latestDelivery).extend({ searchedTo }) },
      },
      handle: async ({ query: { limit, cursor, destinationId, state, messageId, since, until, ...others } }) => {
        const fresh = readModel.freshness("deliveries");
        const page = await filteredPage(readModel, "deliveries", {
          filter: { destinationId, kind: state, messageId, sinceMs: since, untilMs: until },
          limit,
          after: cursor === undefined ? undefined : decodeCursor(cursor),
          texts: latestTexts(others),
          shows: latestCheck(others),
        });
        const deliveries = page.entries.map(deliveryFromEntry);
        const [sentBy, ...again] = await Promise.all([
          authors.of(deliveries.map(({ replayId }) => replayId)),
          ...deliveries.map((delivery) => sentAgain(readModel, delivery)),
        ]);
        const terms = { nowMs: nowMs(), isSuppressed, sentBy };
        return {
          data: deliveries.map((each, index) => viewLatest(each, { ...terms, sentAgain: again[index] ?? null })),
          nextCursor: page.next === null ? null : encodeCursor(page.next),
          ...freshAnswer(fresh),
          searchedTo: isoTimeOrNull(page.searchedToMs),
        };
      },
    }),
  ];
}

interface LatestFilter extends AttemptFilter {
  readonly outcome?: string | undefined;
}

/** Null where every delivery fits. */
export function latestCheck({ outcome, ...others }: LatestFilter): ((entry: ProjectionEntry) => boolean) | null {
  const check = deliveryCheck(others);
  if (outcome === undefined && check === null) return null;
  return (entry) => {
    const delivery = deliveryFromEntry(entry);
    if (outcome !== undefined && delivery.facts.attempts.at(-1)?.outcome !== outcome) return false;
    return check?.(filteredOf(delivery)) ?? true;
  };
}

/**
 * The id of the newest replay that sent the same event again since; null where there is none, and for a delivered one,
 * for which no caller asks.
 */
async function sentAgain(readModel: ReadModel, delivery: KnownDelivery): Promise<string | null> {
  const { messageId, destinationId, sourceId, replayId, state, timeMs } = delivery;
  if (state === "delivered") return null;
  const others = await readModel.newest("deliveries", { messageId, destinationId, sinceMs: timeMs, limit: SENDINGS });
  const again = others
    .map(deliveryFromEntry)
    .find((each) => each.sourceId === sourceId && each.replayId !== null && each.replayId !== replayId);
  return again?.replayId ?? null;
}
