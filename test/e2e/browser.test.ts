/** The Segment library of web pages, in a real browser, against a whole installation. */

import { eventually } from "@posthaste/testkit/eventually";
import { hasGoodSignature } from "@posthaste/testkit/signature";
import { describe, expect, it } from "vitest";
import type { BrowserRequest, LoadOptions, Visit } from "./browser.ts";
import { sendBatch } from "./calls.ts";
import { blocksUnder } from "./page-blocks.ts";
import { bodyOf, createRoute, firstAttempts, messageIdsOf, type Route } from "./route.ts";
import { browser, hasNoBrowser, useConsole } from "./use-console.ts";
import { installation, receiver, useServiceWith } from "./use-installation.ts";

const ARRIVAL = { timeoutMs: 60_000 };
/** More than a test sends by itself, and few enough to go beyond at will. */
const CALLS_PER_SECOND = 20;

describe.skipIf(hasNoBrowser)("the real @segment/analytics-next in Chromium, from another origin", () => {
  useConsole();
  useServiceWith("ingest", { POSTHASTE_SOURCE_CALLS_PER_SECOND: String(CALLS_PER_SECOND) });

  const requestsOf = (route: Route) => firstAttempts(receiver.requestsTo(route.path));

  const load = (visit: Visit, { writeKey }: Route, batching?: LoadOptions["batching"]) =>
    visit.load({ writeKey, ingestUrl: installation.system.ingestUrl, ...(batching ? { batching } : {}) });

  const sentTo = (visit: Visit, method: string, path: string): readonly BrowserRequest[] =>
    visit.requests().filter((request) => request.method === method && new URL(request.url).pathname === path);

  const statusesOf = (visit: Visit, method: string, path: string) =>
    sentTo(visit, method, path).map(({ answer }) => answer?.status);

  it("has every one of its calls delivered, once, with a good signature and the product's bodies", async () => {
    const route = await createRoute(installation, receiver, "/browser");
    const visit = await browser.visit();
    const analytics = await load(visit, route);
    const anonymousId = await analytics.evaluate((library) => library.user().anonymousId());
    await analytics.evaluate(async (library) => {
      await library.page("Academy");
      await library.identify("ada", { email: "ada@example.com", logins: 5 });
      await library.track("Order Completed", { revenue: 39.95, title: "Wörter 🚀" });
      await library.screen("Home");
      await library.group("initech", { "total billed": 830 });
      await library.alias("ada", "anonymous-1");
    });
    await eventually(() => expect(requestsOf(route)).toHaveLength(6), ARRIVAL);

    const url = `${browser.origin}/shop?utm_source=letter&utm_campaign=spring`;
    const place = { path: "/shop", referrer: "", search: "?utm_source=letter&utm_campaign=spring", title: "Shop", url };
    const common = {
      version: 1,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      context: expect.objectContaining({
        ip: "127.0.0.1",
        userAgent: expect.stringContaining("Chrome/"),
        page: place,
        campaign: { source: "letter", name: "spring" },
        library: expect.objectContaining({ name: "analytics.js" }),
      }),
    };
    const bodies = Object.fromEntries(requestsOf(route).map((request) => [bodyOf(request)["type"], bodyOf(request)]));
    expect(bodies).toEqual({
      page: {
        ...common,
        type: "page",
        userId: null,
        anonymousId,
        properties: { ...place, name: "Academy" },
      },
      identify: {
        ...common,
        type: "identify",
        anonymousId,
        userId: "ada",
        traits: { email: "ada@example.com", logins: 5 },
      },
      track: {
        ...common,
        type: "track",
        anonymousId,
        userId: "ada",
        event: "Order Completed",
        properties: { revenue: 39.95, title: "Wörter 🚀" },
      },
      screen: { ...common, type: "screen", anonymousId, userId: "ada", name: "Home" },
      group: {
        ...common,
        type: "group",
        anonymousId,
        userId: "ada",
        groupId: "initech",
        traits: { "total billed": 830 },
      },
      alias: { ...common, type: "alias", anonymousId, "Previous ID": "anonymous-1", "User ID": "ada" },
    });
    expect(requestsOf(route).every((request) => hasGoodSignature(request, route.sharedSecret))).toBe(true);
    expect(messageIdsOf(requestsOf(route)).size).toBe(6);
    expect(new Set(visit.requests().map((request) => new URL(request.url).origin))).toEqual(
      new Set([installation.system.ingestUrl]),
    );
  });

  it("sends what a page calls after the lines that docs/ingest.md shows", async () => {
    const [shown = ""] = await blocksUnder("docs/ingest.md", "Browsers", "js");
    const route = await createRoute(installation, receiver, "/shown");
    const visit = await browser.visit();
    const { host, origin } = new URL(installation.system.ingestUrl);
    // The lines of this installation, which speaks no TLS.
    const lines = shown
      .replace("…", route.writeKey)
      .replace('"https://events.example.com"', JSON.stringify(origin))
      .replace('"events.example.com/v1"', `"${host}/v1", protocol: "http"`)
      .replace(/;\s*$/, "");
    expect(lines).not.toContain("example.com");
    await visit.page.evaluate(`(async (analytics) => { await ${lines}.track("Shown"); })(AnalyticsBrowser)`);
    await eventually(() => expect(requestsOf(route).map((each) => bodyOf(each)["event"])).toEqual(["Shown"]), ARRIVAL);
  });

  it("asks once for leave to send to a path, and then sends each call in one request", async () => {
    const route = await createRoute(installation, receiver, "/preflight");
    const visit = await browser.visit();
    const analytics = await load(visit, route);
    await analytics.evaluate(async (library) => {
      for (const event of ["First", "Second", "Third"]) await library.track(event);
    });
    await eventually(() => expect(requestsOf(route)).toHaveLength(3), ARRIVAL);
    await eventually(() => expect(statusesOf(visit, "POST", "/v1/t")).toEqual([200, 200, 200]));
    expect(sentTo(visit, "OPTIONS", "/v1/t")).toHaveLength(1);
  });

  it("has a full batch delivered in order, and what waits when the page is left", async () => {
    const route = await createRoute(installation, receiver, "/batching");
    const visit = await browser.visit();
    // A page that stays would not send the rest within this test.
    const analytics = await load(visit, route, { size: 3, timeout: 600_000 });
    await analytics.evaluate(async (library) => {
      for (const event of ["1", "2", "3", "4", "5"]) await library.track(event);
    });
    const events = () => requestsOf(route).map((request) => bodyOf(request)["event"]);
    await eventually(() => expect(events()).toEqual(["1", "2", "3"]), ARRIVAL);
    expect(sentTo(visit, "POST", "/v1/b")).toHaveLength(1);

    await visit.page.goto(`${browser.origin}/next`);
    await eventually(() => expect(events()).toEqual(["1", "2", "3", "4", "5"]), ARRIVAL);
    expect(requestsOf(route).every((request) => hasGoodSignature(request, route.sharedSecret))).toBe(true);
  });

  it("has a batch delivered that was never sent before the page is left", async () => {
    const route = await createRoute(installation, receiver, "/leaving");
    const visit = await browser.visit();
    const analytics = await load(visit, route, { size: 10, timeout: 600_000 });
    await analytics.evaluate((library) => library.track("Only"));
    expect(sentTo(visit, "POST", "/v1/b")).toEqual([]);
    // No preflight of this path is remembered: it is asked for while the page goes.
    await visit.page.goto(`${browser.origin}/next`);
    await eventually(
      () => expect(requestsOf(route).map((request) => bodyOf(request)["event"])).toEqual(["Only"]),
      ARRIVAL,
    );
  });

  it("stays away for as long as a 429 tells, and then has the call delivered", async () => {
    const route = await createRoute(installation, receiver, "/limited");
    const visit = await browser.visit();
    const analytics = await load(visit, route);
    // Taken whole, and a debt of four seconds.
    const batch = Array.from({ length: CALLS_PER_SECOND * 5 }, () => ({ type: "track", userId: "u", event: "Debt" }));
    const statuses = () => statusesOf(visit, "POST", "/v1/t");
    // Another one where the debt was over before the browser came to it.
    for (let calls = 1; !statuses().includes(429); calls += 1) {
      expect(await sendBatch(installation.system.ingestUrl, route.writeKey, batch)).toBe(200);
      await analytics.evaluate((library) => library.track("Late"));
      await eventually(
        () => expect(requestsOf(route).filter((request) => bodyOf(request)["event"] === "Late")).toHaveLength(calls),
        ARRIVAL,
      );
      await eventually(() => expect(statuses().filter((status) => status === 200)).toHaveLength(calls));
    }
    expect(statuses().slice(-2)).toEqual([429, 200]);
    const [refused, taken] = sentTo(visit, "POST", "/v1/t").slice(-2);
    const reportedS = refused?.answer?.retryAfterS ?? 0;
    expect(reportedS).toBeGreaterThan(0);
    // A header that the page may not read would have it come again within a second. The browser's clocks differ a
    // little.
    expect((taken?.sentAtS ?? 0) - (refused?.answer?.atS ?? 0)).toBeGreaterThan(reportedS - 0.1);
  });
});
