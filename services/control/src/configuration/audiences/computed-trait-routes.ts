/** The routes of computed traits: values of users that a customer's own system works out. */

import { parseValue, readSaid } from "@posthaste/audiences/uploaded-lines";
import { audienceNameInput, computedTraitInput } from "@posthaste/core/audience/audience-settings";
import { pageQuery } from "@posthaste/http-kit/page";
import { checkInput, invalidInput } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";
import { type AudienceHandlers, saidOfValues } from "./audience-handlers.ts";
import { audiencePage, valuesAnswer } from "./audience-view.ts";

const ofSource = z.strictObject({
  sourceId: z.string().optional().describe("The source; needed where no body names it."),
});

export function computedTraitRoutes(handlers: AudienceHandlers): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/computed-traits",
      operation: "listComputedTraits",
      summary: "Computed traits, oldest first",
      query: pageQuery,
      answer: { status: 200, description: "One page of computed traits.", body: audiencePage },
      handle: ({ query }) => handlers.list("computed_trait", query),
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/computed-traits/{name}",
      operation: "setComputedTrait",
      summary:
        "Values of a computed trait, which is made by the first: an identify for each user whose value is another",
      query: ofSource,
      body: { name: "ComputedTraitInput", schema: computedTraitInput },
      upload: {
        mediaType: "application/x-ndjson",
        description:
          'A user a line, of any length: {"userId": "user-7", "value": 12.5}. One that breaks off changes nobody.',
        handle: ({ params, query, chunks, by }) =>
          handlers.setValues(named(params.name, query.sourceId), readSaid(chunks, parseValue), by),
      },
      answer: { status: 200, description: "The brokers have every change.", body: valuesAnswer },
      refusals: ["conflict"],
      isLong: true,
      handle: ({ params, body, by }) =>
        handlers.setValues(named(params.name, body.sourceId), saidOfValues(body.values), by),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/computed-traits/{name}",
      operation: "removeComputedTrait",
      summary: "Remove a computed trait; nobody is told of it",
      query: ofSource,
      answer: { status: 204, description: "It is gone." },
      refusals: ["not_found", "conflict"],
      isLong: true,
      handle: ({ params, query, by }) => handlers.removeTrait(named(params.name, query.sourceId), by),
    }),
  ];
}

function named(name: string, sourceId: string | undefined): { readonly name: string; readonly sourceId: string } {
  if (sourceId === undefined)
    throw invalidInput([{ path: "sourceId", message: "name the source, as ?sourceId=src_…" }]);
  return { name: checkInput(audienceNameInput, name), sourceId };
}
