/** The routes of destinations' health: of all, the worst first, and of one. */

import type { Freshness } from "@posthaste/core/freshness";
import { HEALTH_STATES, type HealthState } from "@posthaste/core/health/health-state";
import { freshAnswer, freshness } from "@posthaste/http-kit/freshness";
import { packCursor, refusedCursor, unpackCursor } from "@posthaste/http-kit/list-cursor";
import { pageOf, pageQuery } from "@posthaste/http-kit/page";
import { Problem } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";
import { healthAnswer, viewHealth } from "./health-view.ts";
import { comparePlaces, type HealthPlace, type KnownDestination, type KnownHealth, placeOf } from "./known-health.ts";

const MOST_IDS = 200;

const query = pageQuery.extend({
  ids: z
    .string()
    .transform((text) => new Set(text.split(",")))
    .refine(({ size }) => size <= MOST_IDS, `expected at most ${MOST_IDS} ids`)
    .optional()
    .describe(`Only these, separated by commas; ${MOST_IDS} at the most.`),
  state: z.enum(HEALTH_STATES, `expected one of ${HEALTH_STATES.join(", ")}`).optional(),
  name: z.string().optional().describe("A part of its name, large or small letters alike."),
});

export function healthRoutes(known: KnownHealth, fresh: () => Freshness): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/health/destinations",
      operation: "listHealth",
      summary: "How well each destination is, the worst first",
      query,
      answer: {
        status: 200,
        description: "One page.",
        body: { name: "DestinationHealthPage", schema: pageOf(healthAnswer) },
      },
      handle: async ({ query: { limit, cursor, ids, state, name } }) => {
        const after = cursor === undefined ? undefined : decodeCursor(cursor);
        const wanted = name?.toLowerCase();
        const rest = known
          .all()
          .filter(({ destination, judged }) => {
            if (ids !== undefined && !ids.has(destination.id)) return false;
            if (state !== undefined && judged.state !== state) return false;
            return wanted === undefined || destination.name.toLowerCase().includes(wanted);
          })
          .filter((each) => after === undefined || comparePlaces(placeOf(each), after) > 0);
        const shown = rest.slice(0, limit);
        const last = shown.at(-1);
        const nextCursor = last !== undefined && rest.length > limit ? encodeCursor(placeOf(last)) : null;
        return { data: await viewAll(known, shown), nextCursor, ...freshAnswer(fresh()) };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/health/destinations/{id}",
      operation: "getHealth",
      summary: "How well a destination is, since when, why, and what comes next",
      answer: {
        status: 200,
        description: "As it is known now.",
        body: { name: "DestinationHealth", schema: healthAnswer.extend(freshness) },
      },
      refusals: ["not_found"],
      handle: async ({ params: { id } }) => {
        const found = await known.find(id);
        if (found === undefined) throw new Problem("not_found", `there is no destination ${id}`);
        const [reported] = await viewAll(known, [found]);
        if (reported === undefined) throw new Problem("not_found", `there is no destination ${id}`);
        return { ...reported, ...freshAnswer(fresh()) };
      },
    }),
  ];
}

/** The destinations with their waiting deliveries and dead letters, where these can be asked for. */
export async function viewAll(known: KnownHealth, shown: readonly KnownDestination[]) {
  const waiting = await known.waiting();
  return Promise.all(
    shown.map(async (each) => {
      const { id } = each.destination;
      const logged = await known.logged(id);
      return viewHealth(each, {
        recent: known.recent(id),
        waiting: waiting === null ? null : (waiting.get(id) ?? []),
        logged,
        needsSomebody: known.needs(each, waiting, logged?.deadLetters ?? null),
      });
    }),
  );
}

function encodeCursor({ state, sinceMs, id }: HealthPlace): string {
  return packCursor(state, sinceMs, id);
}

function decodeCursor(cursor: string): HealthPlace {
  const [state, sinceMs, id] = unpackCursor<[string, string, string]>(cursor, /^([a-z]+):(\d{1,16}):(.+)$/);
  if (!isState(state)) throw refusedCursor();
  return { state, sinceMs: Number(sinceMs), id };
}

function isState(text: string): text is HealthState {
  return HEALTH_STATES.some((state) => state === text);
}
