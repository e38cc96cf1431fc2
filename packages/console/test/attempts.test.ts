/** Attempts of an event, each with its URLs: the request, the answer, and the sender. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { exampleOf, type FakeRequest } from "./fake-control.ts";
import { eventPage, GIVEN_UP } from "./pages/event.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults, copiedOn, expectNarrow } from "./story.ts";

const ATTEMPTS = "GET /v1/deliveries";
const RECORD = "GET /v1/deliveries/record";
const EVENT = "GET /v1/events/{messageId}";
const destinationId = "dst_4k2v8m1n0p3q5r7s";
const HOOKS = ["https://a.example/hook", "https://b.example/hook"];
const BILLING = { id: destinationId, name: "Billing", settings: { urls: HOOKS.map((url) => ({ url })) } };
const [example] = (exampleOf(ATTEMPTS).body as { readonly data: readonly object[] }).data;
const [event] = GIVEN_UP.events ?? [];
const PAGE = { nextCursor: null, asOf: "2026-11-22T14:12:10.000Z", complete: true, searchedTo: null };
const BODY = JSON.stringify({ userId: "ada", text: "x".repeat(386) });

const urlOf = (url: string, answered: object) => {
  return { url, status: null, error: null, durationMs: 5000.4, answer: null, ...answered };
};
const tried = (attempt: number, differing: object) => ({
  ...{ ...example, messageId: "message-7", destinationId, attempt, outcome: "retryable", followUps: [] },
  ...{ record: { delayMs: attempt === 1 ? 0 : 10_000, partition: 1, offset: 76 + attempt, time: PAGE.asOf } },
  ...{ time: `2026-11-22T10:13:0${attempt}.000Z`, ...differing },
});
/** The record of one attempt has its number; the newest one, for which nobody names it, the next. */
function recordOf({ query }: FakeRequest) {
  const its = exampleOf(RECORD).body as { readonly requests: readonly { readonly headers: object }[] };
  const offset = Number(query.get("record")?.split(":")[2] ?? 79);
  const headers = { ...its.requests[0]?.headers, "X-Attempt": String(offset - 76) };
  return { body: { ...its, body: BODY, requests: HOOKS.map((url) => ({ url, headers })) } };
}
const list = (...data: readonly object[]) => ({ body: { ...PAGE, data } });
const open = (attempts: readonly object[], answers: object = {}) =>
  visit(eventPage.path, {
    ...eventPage.live,
    "GET /v1/destinations": { body: { ...PAGE, data: [BILLING] } },
    [ATTEMPTS]: list(...attempts),
    [RECORD]: recordOf,
    ...answers,
  });
const row = (page: Page, text: RegExp) => page.getByRole("listitem").filter({ hasText: text }).last();
const TIMED_OUT = tried(2, {
  urls: [urlOf(HOOKS[0] ?? "", { error: "timeout" }), urlOf(HOOKS[1] ?? "", { status: 503 })],
});
const ANSWERED = '{"error":"no such customer","code":7}';
const REFUSED = tried(1, {
  ...{ outcome: "permanent", bodyBytes: null },
  urls: [urlOf(HOOKS[1] ?? "", { status: 422, answer: ANSWERED })],
});

startConsole();

describe("an attempt", () => {
  it("says of each URL its number, the size of what was sent, how long it took and what came back", async () => {
    const page = await open([TIMED_OUT, REFUSED]);
    await page.getByText("5,000 ms").first().waitFor();
    const reported = async (text: RegExp) => (await row(page, text).innerText()).replace(/\s+/g, " ");
    const reads = () => control.requests.filter(({ operation }) => operation === RECORD);
    expect(await reported(/no answer/)).toContain(
      "URL 1 POST 412 B · 5,000 ms no answer (timeout) https://a.example/hook",
    );
    expect(await reported(/503/)).toContain("URL 2 POST 412 B · 5,000 ms 503 https://b.example/hook");
    // An entry of an earlier release says nothing of it.
    expect(await reported(/422/)).toContain("URL 2 POST · 5,000 ms 422 https://b.example/hook");
    // Its record is read once somebody opens it.
    expect(reads()).toEqual([]);
    await page.getByRole("button", { name: /^Request of Billing, attempt 2, URL 1/ }).click();
    await row(page, /no answer/)
      .getByText("412 B from")
      .waitFor();
    expect(BODY).toHaveLength(412);
    expect(reads()).toHaveLength(1);
  });

  it("opens its request out of its own record, pretty and raw, with its headers", async () => {
    const page = await open([TIMED_OUT, REFUSED]);
    await page.getByRole("button", { name: "Request of Billing, attempt 1, URL 2" }).click();
    const opened = row(page, /422/);
    await opened.getByText("X-Attempt").waitFor();
    expect(await opened.locator("dl").innerText()).toMatch(/X-Attempt\s+1\n/);
    expect(await opened.locator("dl").innerText()).toMatch(/X-Signature\s+\*\*\*/);
    expect(await opened.getByText(/^POST https/).allInnerTexts()).toEqual([`POST ${HOOKS[1]}`]);
    await opened.getByRole("radio", { name: "Raw" }).click();
    await poll(() => opened.locator("pre").innerText()).toBe(BODY);
    const asked = control.requests
      .filter(({ operation }) => operation === RECORD)
      .map(({ query }) => query.get("record"));
    expect(asked).toEqual(["0:1:77"]);
    expect(await axeFaults(page)).toEqual([]);
    await expectNarrow(page);
  });

  it("opens what the receiver answered, and says why where there is nothing", async () => {
    const page = await open([TIMED_OUT, REFUSED]);
    await page.getByRole("button", { name: "Answer of Billing, attempt 1, URL 2" }).click();
    const opened = row(page, /422/);
    await opened.getByText("no such customer").waitFor();
    await opened.getByRole("button", { name: "Download" }).waitFor();
    // A part that the bar at the top covers counts as small.
    await page.evaluate(() => window.scrollTo(0, 0));
    expect(await axeFaults(page)).toEqual([]);
    for (const [number, why] of [
      [1, "nothing was answered"],
      [2, "its destination's response log does not keep the answer"],
    ] as const) {
      const none = page.getByRole("button", { name: `Answer of Billing, attempt 2, URL ${number}` });
      expect(await none.getAttribute("aria-disabled")).toBe("true");
      await none.hover();
      await page.getByRole("tooltip", { name: why }).waitFor();
    }
  });

  it("is copied as a line for curl, whose secret is a variable", async () => {
    const page = await open([TIMED_OUT, REFUSED]);
    await page.getByRole("button", { name: "curl of Billing, attempt 2, URL 1" }).click();
    await page.getByText("copied", { exact: true }).waitFor();
    expect(await copiedOn(page)).toContain(`curl -X POST '${HOOKS[0]}'`);
    expect(await copiedOn(page)).toContain("'X-Attempt: 2'");
    expect(await copiedOn(page)).toContain('-hmac "$SHARED_SECRET"');
  });

  it("says of one that was sent by hand by whom, and of one of a replay that", async () => {
    const urls = [urlOf(HOOKS[0] ?? "", { status: 200 })];
    const again = (number: number, replayId: string) => tried(number, { replayId, outcome: "delivered", urls });
    const sentByHand = [
      { replayId: "rsd_1", by: "dana" },
      { replayId: "rsd_2", by: null },
    ];
    const page = await open([again(1, "rsd_1"), again(2, "rsd_2"), again(3, "rpl_1")], {
      [EVENT]: { body: { ...GIVEN_UP, events: [{ ...event, sentByHand }] } },
    });
    await row(page, /attempt 1: delivered/)
      .getByText("by hand, by dana", { exact: true })
      .waitFor();
    await row(page, /attempt 2: delivered/)
      .getByText("by hand, by whom the audit does not know")
      .waitFor();
    await row(page, /attempt 3: delivered/)
      .getByText("by a replay")
      .waitFor();
  });

  it("says that earlier ones are in the log, where there are more than a page holds", async () => {
    const page = await open([TIMED_OUT], { [ATTEMPTS]: { body: { ...PAGE, data: [TIMED_OUT], nextCursor: "more" } } });
    await page.getByText("The newest 200 stand here").waitFor();
    await page.getByText("posthaste deliveries --message-id message-7").waitFor();
    const asked = control.requests.filter(({ operation }) => operation === ATTEMPTS);
    expect(asked.map(({ query }) => query.get("limit"))).toEqual(["200"]);
  });

  it("asks nothing of what was sent where a deletion request stopped the user's events", async () => {
    const stopped = (event?.destinations ?? []).map((each) => ({ ...each, cause: "suppressed" }));
    const page = await open([REFUSED], {
      [EVENT]: { body: { ...GIVEN_UP, events: [{ ...event, destinations: stopped }] } },
    });
    const request = page.getByRole("button", { name: "Request of Billing, attempt 1, URL 2" });
    await request.waitFor();
    expect(await request.getAttribute("aria-disabled")).toBe("true");
    expect(control.requests.filter(({ operation }) => operation === RECORD)).toEqual([]);
  });
});

describe("the timeline", () => {
  it("is in words, its codes and offsets in titles", async () => {
    const page = await open([REFUSED]);
    await page.getByRole("tab", { name: "Timeline" }).click();
    const step = (text: string) => page.locator("ol li").filter({ hasText: text }).locator("span[title]");
    expect(await step("the call was accepted").count()).toBe(0);
    expect(await step("routed to be sent").getAttribute("title")).toBe("by the configuration up to 41");
    expect(await step("failed no URL took it until the end").getAttribute("title")).toBe("window_expired");
    expect(await page.locator("ol").innerText()).not.toMatch(/configuration|_expired|retryable/);
  });
});
