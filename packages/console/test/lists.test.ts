/** Lists that are read in pages: the rules of paged-list.tsx, filters, keys. */
import { describe, expect, it } from "vitest";
import { exampleOf, type FakeRequest } from "./fake-control.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults, copiedOn, focusOf, pressChord, rowsOf } from "./story.ts";

const LATEST = "GET /v1/deliveries/latest";
const [example] = (exampleOf(LATEST).body as { readonly data: readonly object[] }).data;

startConsole();

function rows(names: readonly string[], others: object = {}) {
  const data = names.map((messageId) => ({ ...example, messageId }));
  return {
    body: { data, nextCursor: null, asOf: "2026-11-22T14:12:10.000Z", complete: true, searchedTo: null, ...others },
  };
}

const queriesOf = () =>
  control.requests.filter(({ operation }) => operation === LATEST).map(({ query }) => Object.fromEntries(query));

describe("a list", () => {
  it("QL1: holds what came back until it is asked for, and tells a row anew in its place", async () => {
    const page = await visit("/deliveries", { [LATEST]: rows(["message-2", "message-1"]) });
    await page.getByText("message-1").waitFor();
    const changed = rows(["message-4", "message-3", "message-2", "message-1"]);
    const [, , second] = changed.body.data;
    if (second !== undefined) Object.assign(second, { state: "delivered", error: null });
    control.answer({ [LATEST]: changed });
    const button = page.getByRole("button", { name: "2 new" });
    await button.waitFor();
    const shown = await rowsOf(page).allInnerTexts();
    expect(shown.map((text) => /message-\d/.exec(text)?.[0])).toEqual(["message-2", "message-1"]);
    expect(shown[0]).toContain("delivered");
    await button.click();
    await page.getByText("message-4").waitFor();
    expect(await rowsOf(page).count()).toBe(4);
    expect(await button.count()).toBe(0);
  });

  it("QL1: moves nothing when one comes back to the tab, and says that fifty came or more", async () => {
    // Its clock is ahead from then on.
    const page = await visit("/deliveries", { [LATEST]: rows(["message-1"]) }, { isOwn: true });
    await page.getByText("message-1").waitFor();
    control.answer({ [LATEST]: rows(Array.from({ length: 50 }, (_, index) => `message-${index + 2}`)) });
    await page.clock.setFixedTime(Date.now() + 60_000);
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    await page.getByRole("button", { name: "50 and more new" }).waitFor();
    expect(await rowsOf(page).count()).toBe(1);
  });

  it("QL3: says how far a search came that found nothing yet, and goes on", async () => {
    const searched = { nextCursor: "next", searchedTo: "2026-11-22T09:12:00.000Z" };
    const page = await visit("/deliveries?error=503", {
      [LATEST]: ({ query }: FakeRequest) =>
        query.get("cursor") === null ? rows([], searched) : rows(["message-1"], { nextCursor: "last" }),
    });
    await page.getByText("searched to").waitFor();
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText("message-1").waitFor();
    await page.getByRole("button", { name: "More" }).waitFor();
    expect(await page.locator("[data-state=empty]").count()).toBe(0);
  });

  it("QL2, QL3: goes on with its filter, and says how far a search came that ended early", async () => {
    const answer = ({ query }: FakeRequest) =>
      query.get("cursor") === null
        ? rows(["message-2"], { nextCursor: "next", searchedTo: "2026-11-22T09:12:00.000Z" })
        : rows(["message-1"]);
    const page = await visit("/deliveries?error=503", { [LATEST]: answer });
    await page.getByText("searched to").waitFor();
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText("message-1").waitFor();
    expect(queriesOf().filter(({ cursor }) => cursor !== undefined)).toEqual([
      { error: "503", limit: "200", cursor: "next" },
    ]);
    expect(queriesOf().every(({ error }) => error === "503")).toBe(true);
    expect(await page.getByRole("button", { name: /Go on|More/ }).count()).toBe(0);
  });

  it("has its filter in the address, adds to it, and takes away from it", async () => {
    const page = await visit("/deliveries?state=dead_letter&state2=x&type=nonsense", { [LATEST]: rows(["message-1"]) });
    await page.getByText("message-1").waitFor();
    expect(queriesOf()[0]).toEqual({ state: "dead_letter", limit: "50" });
    const failed = page.getByRole("button", { name: "State: failed" });
    expect(await failed.getAttribute("aria-pressed")).toBe("true");
    await page.getByRole("button", { name: "Add filter" }).click();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("menuitem", { name: "Message ID" }).click();
    const editor = page.getByRole("dialog", { name: "Filter by Message ID" });
    await editor.getByRole("textbox", { name: "Message ID" }).fill(" 12 ");
    expect(await axeFaults(page)).toEqual([]);
    await editor.getByRole("button", { name: "Apply" }).click();
    await page.waitForURL("**/deliveries?state=dead_letter&messageId=12");
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByRole("menuitem", { name: "Type" }).click();
    await page.getByRole("menuitemradio", { name: "track" }).click();
    await page.getByRole("button", { name: "Remove Type: track" }).waitFor();
    expect(new URL(page.url()).search).toBe("?state=dead_letter&messageId=12&type=track");
    await failed.click();
    await page.waitForURL("**/deliveries?messageId=12&type=track");
    await page.reload();
    await page.getByText("message-1").waitFor();
    expect(queriesOf().at(-1)).toMatchObject({ messageId: "12", type: "track", limit: "50" });
  });

  it("says of a filter that fits nothing how to see all", async () => {
    const page = await visit("/deliveries?error=503", { [LATEST]: rows([]) });
    await page.getByText("No delivery fits the filter.").waitFor();
    await page.getByRole("link", { name: "Show all" }).click();
    await page.waitForURL("**/deliveries");
  });

  it("is gone through by letters and arrows, and opened by Enter", async () => {
    const page = await visit("/deliveries", { [LATEST]: rows(["message-3", "message-2", "message-1"]) });
    await page.getByText("message-1").waitFor();
    const focused = () => page.evaluate(() => /message-\d/.exec(document.activeElement?.textContent ?? "")?.[0]);
    for (const [key, row] of [
      ["j", "message-3"],
      ["j", "message-2"],
      ["End", "message-1"],
      ["k", "message-2"],
    ] as const) {
      await page.keyboard.press(key);
      await poll(focused).toBe(row);
    }
    await page.keyboard.press("Enter");
    await page.waitForURL("**/events/message-2");
  });

  it("has keys for its rows: c copies the id, r sends again, f filters; g r is none of them", async () => {
    const page = await visit("/deliveries", { [LATEST]: rows(["message-2", "message-1"]) });
    await page.getByText("message-1").waitFor();
    await page.keyboard.press("r");
    for (const row of ["message-2", "message-1"]) {
      await page.keyboard.press("j");
      await focusOf(rowsOf(page).filter({ hasText: row }));
    }
    const isReported = async () => {
      await page.keyboard.press("c");
      return page.getByText("copied message-1").count();
    };
    // It is told for a second and a half, in which a busy machine may not look.
    await poll(isReported).toBe(1);
    expect(await copiedOn(page)).toBe("message-1");
    const resends = () => control.requests.filter(({ operation }) => operation === "POST /v1/deliveries/resend");
    expect(resends()).toEqual([]);
    await page.keyboard.press("r");
    await poll(() => resends().map(({ body }) => body)).toMatchObject([{ messageId: "message-1" }]);
    const row = rowsOf(page).filter({ hasText: "message-1" });
    await row.getByText("by hand, by admin.").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe("/deliveries");
    await page.keyboard.press("f");
    await page.getByRole("menu", { name: "Add filter" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("menu", { name: "Add filter" }).waitFor({ state: "detached" });
    await pressChord(page, "g", "r");
    await page.waitForURL("**/test-receivers");
    expect(resends()).toHaveLength(1);
  });

  it("of groups of dead letters leads to the settings that they lack, and names what none could read", async () => {
    const answer = exampleOf("GET /v1/dead-letters/groups").body as { readonly data: readonly object[] };
    const groups = [
      { ...answer.data[0], destinationId: "dst_1", reason: "rejected_by_receiver", reasonClass: "configuration" },
      { ...answer.data[0], destinationId: "dst_2" },
    ];
    const unreadable = (topic: string) => ({
      ...{ place: `${topic}/0/1`, topic, partition: 0, offset: 1, reason: "not_framed", error: "no frame" },
      ...{ time: "2026-11-22T14:12:10.000Z", by: "router", bytes: 3, reproduced: false },
    });
    const data = ["posthaste.events", "posthaste.deliveries", "posthaste.events"].map(unreadable);
    const page = await visit("/dead-letters", {
      "GET /v1/dead-letters/groups": { body: { ...answer, data: groups } },
      "GET /v1/unreadable": { body: { data, nextCursor: null, asOf: null, complete: true } },
    });
    await page
      .getByText("3 records could not be read by any service: 2 of posthaste.events, 1 of posthaste.deliveries.")
      .waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const settings = page.getByRole("link", { name: /^Open settings of/ });
    expect(await settings.count()).toBe(1);
    await settings.click();
    await page.waitForURL("**/destinations/dst_1?tab=settings");
  });

  it("of groups of dead letters tells one moment where all died at once, else the first and the last", async () => {
    const answer = exampleOf("GET /v1/dead-letters/groups").body as { readonly data: readonly object[] };
    const died = (destinationId: string, firstAt: string) => ({
      ...{ ...answer.data[0], destinationId, firstAt, lastAt: "2026-11-22T10:10:00.000Z" },
    });
    const data = [died("dst_at_once", "2026-11-22T10:10:00.000Z"), died("dst_over_time", "2026-11-22T10:00:00.000Z")];
    const page = await visit("/dead-letters", { "GET /v1/dead-letters/groups": { body: { ...answer, data } } });
    await page.getByText("dst_over_time").waitFor();
    const momentsOf = (name: string) =>
      page
        .getByRole("row")
        .filter({ hasText: name })
        .locator("time")
        .evaluateAll((times) => times.map((time) => time.getAttribute("datetime")));
    expect(await momentsOf("dst_at_once")).toEqual(["2026-11-22T10:10:00.000Z"]);
    expect(await momentsOf("dst_over_time")).toEqual(["2026-11-22T10:10:00.000Z", "2026-11-22T10:00:00.000Z"]);
  });

  it("of groups of dead letters says of which the receiver answers again", async () => {
    const answer = exampleOf("GET /v1/dead-letters/groups").body as { readonly data: readonly object[] };
    const health = exampleOf("GET /v1/health/destinations").body as { readonly data: readonly object[] };
    const [lastAt, later] = ["2026-11-22T10:10:00.000Z", "2026-11-22T10:42:00.000Z"];
    const states = [
      ["dst_again", "healthy", later],
      ["dst_died_since", "healthy", "2026-11-22T10:00:00.000Z"],
      ["dst_failing", "failing", later],
      ["dst_delivers", "failing", lastAt],
      ["dst_always", "healthy", null],
      ["dst_refused", "healthy", later],
      ["dst_off", "healthy", later],
    ] as const;
    const page = await visit("/dead-letters", {
      "GET /v1/dead-letters/groups": {
        body: {
          ...answer,
          data: states.map(([destinationId]) => ({
            ...{ ...answer.data[0], destinationId, lastAt },
            reasonClass: destinationId === "dst_refused" ? "configuration" : "receiver",
            endsWithAnswer: destinationId !== "dst_off",
          })),
        },
      },
      "GET /v1/health/destinations": ({ query }) => ({
        body: {
          ...health,
          data: states
            .filter(([destinationId]) => query.get("ids")?.split(",").includes(destinationId))
            .map(([destinationId, state, since]) => ({
              ...{ ...health.data[0], destinationId, state, since },
              deliversAgainSince: destinationId === "dst_delivers" ? later : null,
            })),
        },
      }),
    });
    const answering = async (words: RegExp) =>
      (await rowsOf(page).filter({ hasText: words }).allInnerTexts()).map((text) => /dst_\w+/.exec(text)?.[0]);
    await page.getByText("dst_again").waitFor();
    expect(await answering(/it answers again since/)).toEqual(["dst_again", "dst_delivers", "dst_refused"]);
    expect(await answering(/it answers now/)).toEqual(["dst_always"]);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("of groups of dead letters counts the open ones and those delivered since, and offers no replay of none", async () => {
    const answer = exampleOf("GET /v1/dead-letters/groups").body as { readonly data: readonly object[] };
    const group = { ...answer.data[0], destinationId: "dst_1", count: 12_345, open: 5, deliveredSince: 12_340 };
    const settled = { ...group, destinationId: "dst_2", open: 0, deliveredSince: 1, remedy: "nothing: they were" };
    const suppressed = { ...group, destinationId: "dst_3", reason: "suppressed", reasonClass: "configuration" };
    const page = await visit("/dead-letters", {
      "GET /v1/dead-letters/groups": { body: { ...answer, data: [group, settled, suppressed] } },
    });
    const row = (name: string) => rowsOf(page).filter({ hasText: name });
    await row("dst_1").getByText("; 12,340 more were delivered since").waitFor();
    expect(await row("dst_1").innerText()).toMatch(/\b5\b/);
    await page.getByText("5 dead letters can be sent again; 5 of suppressed users cannot.").waitFor();
    await row("dst_2").getByText("nothing: they were; 1 was delivered since").waitFor();
    expect(await row("dst_1").getByText("Review and replay").count()).toBe(1);
    expect(await row("dst_2").getByText("Review and replay").count()).toBe(0);
    // Nothing is wrong any more where none is open.
    expect(await row("dst_1").innerText()).toContain("■");
    expect(await row("dst_2").innerText()).toMatch(/◌ (?!.*■)/s);
    expect(await row("dst_3").innerText()).toMatch(/◌ (?!.*(■|Review|Open settings))/s);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("of groups of dead letters shows the largest, and more when asked", async () => {
    const GROUPS = "GET /v1/dead-letters/groups";
    const answer = exampleOf(GROUPS).body as { readonly data: readonly object[] };
    const groups = Array.from({ length: 3000 }, (_, n) => ({
      ...answer.data[0],
      ...{ destinationId: `dst_${n}`, count: 3000 - n },
    }));
    const page = await visit("/dead-letters", {
      [GROUPS]: ({ query }) => {
        const [from, limit] = [Number(query.get("cursor") ?? 0), Number(query.get("limit"))];
        // The one before grew between the two pages.
        const data = groups.slice(Math.max(0, from - 1), from + limit);
        return { body: { ...answer, data, nextCursor: String(from + limit), groups: groups.length } };
      },
    });
    await page.getByRole("button", { name: "More: 2,950 smaller groups" }).click();
    await page.getByText("dst_99", { exact: true }).waitFor();
    expect(await rowsOf(page).count()).toBe(100);
    await page.getByRole("button", { name: "More: 2,900 smaller groups" }).waitFor();
    const limits = control.requests.flatMap(({ operation, query }) =>
      operation === GROUPS ? [query.get("limit")] : [],
    );
    expect(new Set(limits)).toEqual(new Set(["50"]));
  });
});
