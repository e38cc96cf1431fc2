import type { RouteRequest } from "@posthaste/http-kit/route";
import { expect, it } from "vitest";
import { liveRoutes } from "./live-routes.ts";

const clock = { nowMs: () => 0, monotonicMs: () => 0 };

it("gives a stream's place back where who asked leaves while it opens, and opens no more than may be", async () => {
  const counts: number[] = [];
  const opened = Promise.withResolvers<readonly []>();
  const [route] = liveRoutes({
    ...{ openFeeds: () => opened.promise, clock },
    onOpen: (streams) => counts.push(streams),
    bounds: { maxStreams: 1 },
  });
  const left = new AbortController();
  const ask = (signal: AbortSignal) =>
    route?.run({ query: { topics: "health" }, params: {}, head: {}, by: {}, signal, chunks: null } as RouteRequest);
  const first = ask(left.signal);
  await expect(ask(AbortSignal.any([]))).rejects.toThrow("there are 1 streams");
  left.abort();
  opened.resolve([]);
  await first;
  expect(counts).toEqual([1, 0]);
  await ask(AbortSignal.any([]));
  expect(counts).toEqual([1, 0, 1]);
});
