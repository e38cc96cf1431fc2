/**
 * A receiver that stands still for longer than a request may take, as one on a busy machine does: the repeats and the
 * late events are the retries of timed-out requests and the events that the circuit breaker held back meanwhile, each
 * told by the attempt log. So the other fault runs can tell them from repeats and disorder of a fault.
 */
import { eventually } from "@posthaste/testkit/eventually";
import { expect, it } from "vitest";
import { createRoute } from "../e2e/route.ts";
import { installation, receiver, useInstallation } from "../e2e/use-installation.ts";
import { createArrivals } from "./arrivals.ts";
import { explainArrivals } from "./explained-arrivals.ts";
import { startLoad } from "./load.ts";

const EVENTS = 1_500;
const EVENTS_PER_SECOND = 100;
/**
 * After so many the receiver stands, for the five seconds of a request and three more: requests within these time out,
 * many times more than open a breaker, however slowly a busy machine sends.
 */
const STANDS_AFTER = 200;
const STANDS_MS = 8_000;
const ARRIVAL = { timeoutMs: 60_000, intervalMs: 100 };

useInstallation();

it("everything arrives, and what came again or late failed or was deferred before", async () => {
  const { system, names } = installation;
  const route = await createRoute(installation, receiver, "/stands");
  const arrivals = createArrivals();
  let stoodUntilMs: number | null = null;
  receiver.script(route.path, (request) => {
    arrivals.record(request);
    if (stoodUntilMs === null && arrivals.delivered() > STANDS_AFTER) stoodUntilMs = performance.now() + STANDS_MS;
    return { delayMs: Math.max(0, (stoodUntilMs ?? 0) - performance.now()) };
  });
  const { ingestUrl } = system;
  const { writeKey } = route;
  const load = startLoad({ ingestUrl, writeKey, eventsPerSecond: EVENTS_PER_SECOND, name: "stands", events: EVENTS });
  await eventually(() => expect(load.acknowledged.size + load.refused()).toBe(EVENTS), ARRIVAL);
  await load.stop();
  await eventually(() => expect([...load.acknowledged].filter((id) => !arrivals.has(id))).toEqual([]), ARRIVAL);
  const explained = await explainArrivals(arrivals, system.stack, names);
  expect(arrivals.repeated()).toBeGreaterThan(0);
  expect(arrivals.late.size).toBeGreaterThan(0);
  expect(explained).toMatchObject({ repeated: 0, disordered: 0 });
  expect([...explained.reasons.keys()]).toEqual(expect.arrayContaining(["timeout", "deferred: breaker_open"]));
});
