/**
 * Complaints of users of such tools, as rules that no redesign may drop: the rules of docs/testing.md that no other
 * test of the pages holds.
 */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { exampleOf, type FakeRequest } from "./fake-control.ts";
import { eventPage } from "./pages/event.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { rowsOf } from "./story.ts";

const LATEST = "GET /v1/deliveries/latest";
const DEAD_LETTERS = "GET /v1/dead-letters";
const ATTEMPTS = "GET /v1/deliveries";
const AUDIT = "GET /v1/audit";
const REPLAY = "POST /v1/replays";
const PAGE = { nextCursor: null, asOf: "2026-11-22T14:12:10.000Z", complete: true, searchedTo: null };
const [delivery] = (exampleOf(LATEST).body as { readonly data: readonly object[] }).data;
const STATES = ["delivered", "waiting_retry", "deferred", "dead_letter", "suppressed"] as const;
const STATE_WORDS = {
  ...{ delivered: "delivered", waiting_retry: "retrying", deferred: "waiting" },
  ...{ dead_letter: "failed", suppressed: "suppressed" },
};
const OF_EVENT = { type: "track", event: "Order", userId: "ada", error: "503", sourceId: "src_1" };
const OF_TIME = { since: "2026-11-22T06:10:00Z", until: "2026-11-22T10:10:00Z" };

startConsole();

/** One of each state, as control has them. */
function ofState({ query }: FakeRequest) {
  const states = STATES.filter((state) => (query.get("state") ?? state) === state);
  return {
    body: { ...PAGE, data: states.map((state) => ({ ...delivery, state, messageId: `was-${STATE_WORDS[state]}` })) },
  };
}

const ids = async (page: Page) => (await page.getByText(/^was-/).allInnerTexts()).sort();
const asked = (operation: string) => control.requests.filter((each) => each.operation === operation);

describe("a list", () => {
  it("shows for each state that can be chosen what stands so, and all of it for none", async () => {
    const page = await visit("/deliveries", { [LATEST]: ofState });
    await poll(() => ids(page)).toEqual(STATES.map((state) => `was-${STATE_WORDS[state]}`).sort());
    for (const state of STATES) {
      const chip = page.getByRole("button", { name: `State: ${STATE_WORDS[state]}` });
      await chip.click();
      await poll(() => ids(page)).toEqual([`was-${STATE_WORDS[state]}`]);
      await chip.click();
      await poll(() => ids(page)).toHaveLength(STATES.length);
    }
  });

  it.each([
    ["/deliveries", LATEST, { state: "dead_letter", statusClass: "5xx", messageId: "message-1", replayId: "rpl_1" }],
    ["/dead-letters/letters", DEAD_LETTERS, { reason: "window_expired" }],
  ])(
    "is filtered by control and not by the browser, by type, destination, error and user: %s",
    async (at, list, own) => {
      const filter = { ...OF_EVENT, ...OF_TIME, ...own, destinationId: "dst_1" };
      await visit(`${at}?${new URLSearchParams(filter)}`);
      await poll(() => asked(list).map(({ query }) => Object.fromEntries(query))).toContainEqual({
        ...filter,
        limit: "50",
      });
    },
  );

  it("that comes live is gone through by arrows, Home, End and Enter", async () => {
    const rows = (count: number) => ({
      body: {
        ...PAGE,
        data: Array.from({ length: count }, (_, n) => ({ ...delivery, messageId: `was-${count - n}` })),
      },
    });
    const page = await visit("/deliveries", { [LATEST]: rows(4) });
    await page.getByRole("button", { name: /^live/ }).waitFor();
    await page.getByText("was-4").waitFor();
    await page.keyboard.press("j");
    const focused = () => page.evaluate(() => /was-\d/.exec(document.activeElement?.textContent ?? "")?.[0]);
    for (const [key, row] of [
      ["ArrowDown", "was-3"],
      ["End", "was-1"],
      ["ArrowUp", "was-2"],
      ["Home", "was-4"],
    ] as const) {
      await page.keyboard.press(key);
      await poll(focused).toBe(row);
    }
    control.answer({ [LATEST]: rows(6) });
    control.tell("deliveries", { ...delivery, messageId: "was-6" });
    await page.getByRole("button", { name: "2 new" }).waitFor();
    expect(await focused()).toBe("was-4");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/events/was-4");
  });
});

describe("attempts", () => {
  it("are the newest first, each with its error in its row", async () => {
    const [attempt] = (exampleOf(ATTEMPTS).body as { readonly data: readonly object[] }).data;
    const url = { url: "https://a.example/hook", outcome: "retryable", status: null, durationMs: 5000, answer: null };
    const tried = (number: number, failed: object) => ({
      ...{ ...attempt, messageId: "message-7", attempt: number, outcome: "retryable", urls: [{ ...url, ...failed }] },
      followUps: [],
      time: `2026-11-22T10:13:0${number}.000Z`,
    });
    const data = [tried(2, { status: 503 }), tried(1, { error: "timeout" })];
    const page = await visit(eventPage.path, { ...eventPage.live, [ATTEMPTS]: { body: { ...PAGE, data } } });
    const rows = page.getByRole("listitem").filter({ hasText: /attempt \d: failed, tried again/ });
    await poll(() => rows.count()).toBe(2);
    const reported = await rows.allInnerTexts();
    expect(reported.map((text) => /attempt \d/.exec(text)?.[0])).toEqual(["attempt 2", "attempt 1"]);
    expect(reported.map((text) => /503|timeout/.exec(text)?.[0])).toEqual(["503", "timeout"]);
  });
});

describe('"all matching"', () => {
  it.each([
    ["Send all matching again", "/deliveries", LATEST, { state: "dead_letter" }],
    ["Review and replay", "/dead-letters/letters", DEAD_LETTERS, {}],
  ])("is the whole filter, and never the rows that are shown: %s", async (name, at, list, own) => {
    const filter = { destinationId: "dst_1", ...OF_EVENT, ...OF_TIME };
    const page = await visit(`${at}?${new URLSearchParams({ ...filter, ...own })}`, {
      [list]: { body: Object.assign({}, exampleOf(list).body, { nextCursor: "more" }) },
    });
    await page.getByRole("button", { name: "More", exact: true }).waitFor();
    await page.getByRole("link", { name }).click();
    await page.getByRole("button", { name: "Replay 12,345" }).waitFor();
    expect(asked(REPLAY).map(({ body }) => body)).toEqual([{ ...filter, dryRun: true }]);
  });
});

describe("what was changed", () => {
  it("says from what to what, of what was made what it is, and by which way", async () => {
    const [change] = (exampleOf(AUDIT).body as { readonly data: readonly object[] }).data;
    const data = [
      { ...change, id: 2, way: "cli", changes: [{ field: "rate", from: null, to: "10" }] },
      { ...change, id: 1, way: "console", changes: [{ field: "name", from: "Shop", to: null }] },
      { ...change, id: 3, way: "api", changes: [{ field: "sharedSecret", from: "changed", to: "changed" }] },
      ...["1", "2"].map((revision) => ({
        ...{ ...change, id: null, requestId: null, time: `2026-11-22T10:00:0${revision}.000Z`, operation: "change" },
        ...{ actor: "unknown", way: "unknown", changes: [{ field: "revision", from: "0", to: revision }] },
      })),
    ];
    const page = await visit("/activity", { [AUDIT]: { body: { ...PAGE, data } } });
    const rows = rowsOf(page);
    await rows.filter({ hasText: "command line" }).getByText("rate 10", { exact: true }).waitFor();
    await rows.filter({ hasText: "console" }).getByText("name Shop → none", { exact: true }).waitFor();
    await rows.filter({ hasText: "API" }).getByText("shared secret changed", { exact: true }).waitFor();
    const byHand = rows.filter({ hasText: "not through control" });
    await byHand.getByText("revision 0 → 2", { exact: true }).waitFor();
    expect(await byHand.count()).toBe(2);
  });

  it("leads to what it is of, where that has a page and the list is not of it alone", async () => {
    const [change] = (exampleOf(AUDIT).body as { readonly data: readonly object[] }).data;
    const targets = ["dst_4k2v8m1n0p3q5r7s", "src_4k2v8m1n0p3q5r7s", "rpl_4k2v8m1n0p3q5r7s", "tok_4k2v8m1n0p3q5r7s"];
    const data = targets.map((target, id) => ({ ...change, target, id, requestId: `req_${id}` }));
    const answers = { [AUDIT]: { body: { ...PAGE, data } } };
    const page = await visit("/activity", answers);
    const links = () => rowsOf(page).evaluateAll((rows) => rows.map((row) => row.getAttribute("data-href") ?? ""));
    await poll(links).toEqual([
      "/destinations/dst_4k2v8m1n0p3q5r7s",
      "/sources/src_4k2v8m1n0p3q5r7s",
      "/replays/rpl_4k2v8m1n0p3q5r7s",
      "",
    ]);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/destinations/dst_4k2v8m1n0p3q5r7s");
    await page.getByRole("tab", { name: "Changes" }).click();
    await poll(links).toEqual(["", "", "", ""]);
  });
});
