/** Routes for sources, which send calls, and for the write keys that they send them with. */
import { sourceInput, sourcePatch, writeKeyRotationInput } from "@posthaste/core/config/source-settings";
import { resourceRoutes } from "@posthaste/http-kit/resource-routes";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { SourceHandlers, type SourceHandlersOptions } from "./source-handlers.ts";
import { sourceAnswer, sourcePage } from "./source-view.ts";

export function sourceRoutes(options: SourceHandlersOptions): readonly Route[] {
  const handlers = new SourceHandlers(options);
  return [
    ...resourceRoutes({
      plural: "sources",
      noun: "Source",
      input: sourceInput,
      patch: sourcePatch,
      answer: sourceAnswer,
      page: sourcePage,
      summaries: {
        create: "Make a source and its write key",
        change: "Change a source; what is absent stays",
        remove: "Remove a source; its write keys are refused from then on",
      },
      handlers,
    }),
    defineRoute({
      method: "POST",
      path: "/v1/sources/{id}/write-key",
      operation: "rotateWriteKey",
      summary: "Make a new write key; the old one is taken for some time still",
      body: { name: "WriteKeyRotation", schema: writeKeyRotationInput },
      answer: { status: 200, description: "The source with its new key.", body: sourceAnswer },
      refusals: ["not_found"],
      handle: ({ params, body, by }) => handlers.rotateWriteKey(params.id, body, by),
    }),
  ];
}
