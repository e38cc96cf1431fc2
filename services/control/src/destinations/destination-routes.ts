/** Destinations: where a source's events go, and how. Secrets go in and never come out. */
import { destinationInput, destinationPatch } from "@posthaste/core/config/destination-settings";
import { pageQuery } from "../http/page.ts";
import { defineRoute, type Route } from "../http/route.ts";
import { DestinationHandlers, type DestinationHandlersOptions } from "./destination-handlers.ts";
import { destinationAnswer, destinationPage } from "./destination-view.ts";

export function destinationRoutes(options: DestinationHandlersOptions): readonly Route[] {
  const handlers = new DestinationHandlers(options);
  return [
    defineRoute({
      method: "GET",
      path: "/v1/destinations",
      operation: "listDestinations",
      summary: "Destinations, oldest first",
      query: pageQuery,
      answer: { status: 200, description: "One page of destinations.", body: destinationPage },
      handle: ({ query }) => handlers.list(query),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/destinations",
      operation: "createDestination",
      summary: "Make a destination; it gets the events received from one second after the answer",
      body: { name: "DestinationInput", schema: destinationInput },
      answer: { status: 201, description: "The destination.", body: destinationAnswer },
      handle: ({ body }) => handlers.create(body),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/destinations/{id}",
      operation: "getDestination",
      summary: "One destination",
      answer: { status: 200, description: "The destination.", body: destinationAnswer },
      refusals: ["not_found"],
      handle: ({ params }) => handlers.get(params.id),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/destinations/{id}",
      operation: "changeDestination",
      summary: "Change a destination; what is absent stays, settings are merged, lists are replaced",
      body: { name: "DestinationPatch", schema: destinationPatch },
      answer: { status: 200, description: "The destination after the change.", body: destinationAnswer },
      refusals: ["not_found", "conflict"],
      handle: ({ params, body }) => handlers.change(params.id, body),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/destinations/{id}",
      operation: "removeDestination",
      summary: "Remove a destination; what waits for it becomes dead letters",
      answer: { status: 204, description: "It is gone." },
      refusals: ["not_found"],
      handle: ({ params }) => handlers.remove(params.id),
    }),
  ];
}
