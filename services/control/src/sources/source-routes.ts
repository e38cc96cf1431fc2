/** Sources: what sends calls, and the write keys that it sends them with. */
import { sourceInput, sourcePatch, writeKeyRotationInput } from "@posthaste/core/config/source-settings";
import { pageQuery } from "../http/page.ts";
import { defineRoute, type Route } from "../http/route.ts";
import { SourceHandlers, type SourceHandlersOptions } from "./source-handlers.ts";
import { sourceAnswer, sourcePage } from "./source-view.ts";

export function sourceRoutes(options: SourceHandlersOptions): readonly Route[] {
  const handlers = new SourceHandlers(options);
  return [
    defineRoute({
      method: "GET",
      path: "/v1/sources",
      operation: "listSources",
      summary: "Sources, oldest first",
      query: pageQuery,
      answer: { status: 200, description: "One page of sources.", body: sourcePage },
      handle: ({ query }) => handlers.list(query),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/sources",
      operation: "createSource",
      summary: "Make a source and its write key",
      body: { name: "SourceInput", schema: sourceInput },
      answer: { status: 201, description: "The source.", body: sourceAnswer },
      handle: ({ body }) => handlers.create(body),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/sources/{id}",
      operation: "getSource",
      summary: "One source",
      answer: { status: 200, description: "The source.", body: sourceAnswer },
      refusals: ["not_found"],
      handle: ({ params }) => handlers.get(params.id),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/sources/{id}",
      operation: "changeSource",
      summary: "Change a source; what is absent stays",
      body: { name: "SourcePatch", schema: sourcePatch },
      answer: { status: 200, description: "The source after the change.", body: sourceAnswer },
      refusals: ["not_found", "conflict"],
      handle: ({ params, body }) => handlers.change(params.id, body),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/sources/{id}",
      operation: "removeSource",
      summary: "Remove a source; its write keys are refused from then on",
      answer: { status: 204, description: "It is gone." },
      refusals: ["not_found"],
      handle: ({ params }) => handlers.remove(params.id),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/sources/{id}/write-key",
      operation: "rotateWriteKey",
      summary: "Make a new write key; the old one is taken for some time still",
      body: { name: "WriteKeyRotation", schema: writeKeyRotationInput },
      answer: { status: 200, description: "The source with its new key.", body: sourceAnswer },
      refusals: ["not_found"],
      handle: ({ params, body }) => handlers.rotateWriteKey(params.id, body),
    }),
  ];
}
