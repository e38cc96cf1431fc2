import { SILENT_LOG } from "@posthaste/core/log";
import { NOBODY } from "@posthaste/http-kit/caller";
import { createRequestMetrics } from "@posthaste/http-kit/request-metrics";
import { createServer } from "@posthaste/http-kit/server";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import type { ScannedTopic } from "@posthaste/pipeline/scanned-topics";
import { TopicScan } from "@posthaste/pipeline/topic-scan";
import { eventually } from "@posthaste/testkit/eventually";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { scanRoutes } from "./scan-routes.ts";

it("TS1, TS2: one scan runs at a time, and it ends with whoever asked for it", async () => {
  // No scan comes further than its first step before this is resolved.
  const found = Promise.withResolvers<readonly ScannedTopic[]>();
  const connection = {} as KafkaConnection;
  const clock = { monotonicMs: () => 0 };
  const scan = new TopicScan({ connection, topics: () => found.promise, clock });
  const server = createServer({
    routes: scanRoutes({ scan }),
    callers: {
      needs: { scanEvent: "read" },
      callerOf: () => ({ ...NOBODY, scopes: ["read"] }),
      isStillAllowed: () => true,
    },
    ...{ version: "0", examples: {}, log: SILENT_LOG, metrics: createRequestMetrics(new Registry()) },
    ...{ readiness: async () => ({}), isCaughtUp: () => true },
  });
  try {
    const url = await server.listen({ port: 0, host: "127.0.0.1" });
    const open = (signal?: AbortSignal) =>
      fetch(`${url}/v1/events/sought/scan`, signal === undefined ? {} : { signal });
    const leaving = new AbortController();
    expect((await open(leaving.signal)).status).toBe(200);
    const second = await open();
    expect([second.status, second.headers.get("retry-after")]).toEqual([429, "10"]);
    expect(await second.json()).toMatchObject({
      detail: "the topics are being scanned for another: one at a time",
    });
    leaving.abort();
    const next = await eventually(async () => {
      const answer = await open();
      expect(answer.status).toBe(200);
      return answer;
    });
    found.resolve([]);
    expect(await next.text()).toContain("event: done");
  } finally {
    found.resolve([]);
    await server.close();
  }
});
