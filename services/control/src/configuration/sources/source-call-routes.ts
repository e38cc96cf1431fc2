/** Routes: the calls that a source sent lately, and a sample call to try the source with. */
import { CALL_TYPES } from "@posthaste/core/call/call-schema";
import { UNKNOWN_SOURCE_ID } from "@posthaste/core/call/source-activity";
import { createId } from "@posthaste/http-kit/identifiers";
import { timeRange } from "@posthaste/http-kit/moment";
import { pageQuery } from "@posthaste/http-kit/page";
import { Problem } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";
import { sendSample } from "./sample-call.ts";
import { type FindSources, sourceOf } from "./source-access.ts";
import { sourceCallsAnswer } from "./source-call-view.ts";
import { findSourceCalls, type SourceCallsParts } from "./source-calls.ts";

export interface SourceCallRoutesOptions extends SourceCallsParts {
  readonly sources: FindSources;
  /** Ingest's address; null where none is set, so that no sample call can be sent. */
  readonly ingestUrl: string | null;
  readonly nowMs: () => number;
}

const HOUR_MS = 3_600_000;

const callsQuery = z.strictObject({
  limit: pageQuery.shape.limit,
  since: timeRange.since.describe("From when on calls are counted, ISO 8601; an hour ago by default."),
});

const sampleInput = z.strictObject({
  type: z
    .enum(CALL_TYPES, `expected one of ${CALL_TYPES.join(", ")}`)
    .default("track")
    .describe("The call's type."),
});

const sampleAnswer = z.object({
  messageId: z.string().describe("What GET /v1/events/{messageId} is asked for."),
  type: z.enum(CALL_TYPES),
  taken: z.boolean(),
  status: z.int().nullable().describe("What ingest answered; null where it did not."),
  code: z.string().nullable().describe("Why it was not taken."),
  message: z.string().nullable().describe("What ingest said, or why nothing came from it."),
});

export function sourceCallRoutes(options: SourceCallRoutesOptions): readonly Route[] {
  return [callsRoute(options), sampleRoute(options)];
}

function callsRoute({ sources, nowMs, ...parts }: SourceCallRoutesOptions): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/sources/{id}/calls",
    operation: "listSourceCalls",
    summary: `The newest calls of a source, taken or not, with what to change; of ${UNKNOWN_SOURCE_ID}, of nobody's`,
    query: callsQuery,
    answer: { status: 200, description: "The calls, newest first, and how many there were.", body: sourceCallsAnswer },
    refusals: ["not_found", "unavailable"],
    handle: async ({ params, query }) => {
      if (params.id !== UNKNOWN_SOURCE_ID) await sourceOf(params.id, sources);
      const now = nowMs();
      return findSourceCalls(
        params.id,
        { limit: query.limit, sinceMs: query.since ?? now - HOUR_MS, nowMs: now },
        parts,
      );
    },
  });
}

function sampleRoute({ sources, ingestUrl, nowMs }: SourceCallRoutesOptions): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/sources/{id}/sample",
    operation: "sendSampleCall",
    summary: "Send one made-up call to ingest with the source's write key, and see what it answers",
    body: { name: "SampleInput", schema: sampleInput },
    answer: { status: 200, description: "What ingest answered.", body: { name: "SampleAnswer", schema: sampleAnswer } },
    refusals: ["not_found", "conflict"],
    handle: async ({ params, body: { type } }) => {
      const source = await sourceOf(params.id, sources);
      if (ingestUrl === null) {
        throw new Problem("conflict", "control does not know where ingest is: set POSTHASTE_INGEST_URL for it");
      }
      const key = source.writeKeys.find(({ expiresAtMs }) => expiresAtMs === null);
      if (key === undefined) throw new Problem("conflict", `${params.id} has no write key: make a new one`);
      const messageId = createId("test");
      const outcome = await sendSample({ ingestUrl, writeKey: key.key, type, messageId, nowMs: nowMs() });
      return { messageId, type, ...outcome };
    },
  });
}
