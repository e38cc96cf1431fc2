/** Routes that read dead letters from their topic: one with its body, or all that fit as a file. */

import { defineRoute, type Route, StreamedAnswer } from "@posthaste/http-kit/route";
import { z } from "zod";
import { deadLetterFilterQuery, filterFrom } from "../../operations/replays/dead-letter-query.ts";

import type { DeadLetterExport } from "./dead-letter-export.ts";
import { viewWhole, wholeDeadLetter } from "./dead-letter-view.ts";
import { EXPORT_FORMATS, MEDIA_TYPES } from "./row-formats.ts";
import type { VisibleDeadLetters } from "./visible-dead-letters.ts";

/** The trailer behind a file: how many dead letters that fit the file leaves out, and why. */
const SKIPPED_TRAILER = "posthaste-left-out";

const exportQuery = z.object({
  ...deadLetterFilterQuery,
  format: z.enum(EXPORT_FORMATS, `expected one of ${EXPORT_FORMATS.join(", ")}`).default("ndjson"),
});

/** `known`: the same dead letters in the delivery log. */
export function deadLetterExportRoutes(
  deadLetters: DeadLetterExport,
  known: Pick<VisibleDeadLetters, "stateAt">,
): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/dead-letters/export",
      operation: "exportDeadLetters",
      summary: "All dead letters that fit, with their bodies, as they are read from the topic",
      query: exportQuery,
      isLong: true,
      answer: { status: 200, description: "The file, as it is made.", streams: Object.values(MEDIA_TYPES) },
      handle: async ({ query: { format, ...asked }, signal }) => {
        const { chunks, leftOut } = await deadLetters.begin(filterFrom(asked), format, signal);
        return new StreamedAnswer({
          ...{ mediaType: MEDIA_TYPES[format], fileName: `dead-letters.${format}`, chunks },
          trailers: {
            names: [SKIPPED_TRAILER],
            values: () => ({ [SKIPPED_TRAILER]: `suppressed=${leftOut.suppressed}, purged=${leftOut.purged}` }),
          },
        });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/dead-letters/{place}",
      operation: "getDeadLetter",
      summary: "One dead letter with its body and its history, by where it stands in its topic",
      answer: {
        status: 200,
        description: "The dead letter.",
        body: { name: "WholeDeadLetter", schema: wholeDeadLetter },
      },
      refusals: ["not_found"],
      handle: async ({ params: { place }, signal }) => {
        const { deadLetter, facts } = await deadLetters.one(place, signal);
        return viewWhole({ place, deadLetter, state: await known.stateAt(facts) });
      },
    }),
  ];
}
