/** Events that are looked for without a message id: by whose they are, by their name, and by when. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { exampleOf } from "./fake-control.ts";
import { eventPage } from "./pages/event.ts";
import { control, startConsole, visit } from "./started-console.ts";
import { axeFaults, expectSound, focusOf } from "./story.ts";

const [EVENTS, LATEST] = ["GET /v1/events", "GET /v1/deliveries/latest"];
const MOMENT = "2026-11-22T15:04:30.123Z";
const named = (...entries: readonly object[]) => ({
  body: { data: entries, nextCursor: null, asOf: null, complete: true },
});

const queriesOf = (operation: string) =>
  control.requests
    .filter((each) => each.operation === operation)
    .map(({ query }) => Object.fromEntries([...query].filter(([key]) => key !== "limit")));

async function search(page: Page, words: string): Promise<void> {
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  await page.keyboard.press("/");
  await page.getByRole("dialog", { name: "Search" }).waitFor();
  await page.keyboard.insertText(words);
}

startConsole(new Date(MOMENT));

describe("events", () => {
  it("are found by a user's id that is pasted into the search, and opened by one more step", async () => {
    const page = await visit("/activity", eventPage.live, { width: 360 });
    await search(page, "user-7");
    const found = page.getByRole("menuitem", { name: "Events of the user user-7" });
    await found.waitFor();
    expect(await page.getByRole("menuitem", { name: "Events with the name user-7" }).count()).toBe(1);
    await expectSound(page);
    await found.click();
    await page.waitForURL("**/events?userId=user-7");
    await page.getByText("Order Completed track").waitFor();
    expect(queriesOf(EVENTS)[0]).toEqual({ userId: "user-7" });
    await page.keyboard.press("j");
    await focusOf(page.getByRole("row").filter({ hasText: "message-7" }));
    await page.setViewportSize({ width: 360, height: 800 });
    await page.keyboard.press("Enter");
    await page.waitForURL("**/events/message-7");
    await page.getByText("Failed").first().waitFor();
  });

  it("are found by their name, which Enter takes where it is no id and no page", async () => {
    const page = await visit("/activity", eventPage.live);
    await search(page, "Order Completed");
    await page.getByRole("menuitem", { name: "Events of the user Order Completed" }).waitFor();
    await page.getByRole("menuitem", { name: "Events with the name Order Completed" }).click();
    await page.waitForURL("**/events?event=Order+Completed");
    await page.getByText("posthaste events find --event 'Order Completed'").waitFor();
    expect(queriesOf(EVENTS)[0]).toEqual({ event: "Order Completed" });
  });
});

describe("a filter", () => {
  const BILLING = { id: "dst_4k2v8m1n0p3q5r7s", name: "Billing" };
  const LISTS = {
    [LATEST]: { body: exampleOf(LATEST).body },
    "GET /v1/destinations": named(BILLING, { id: "dst_other", name: "Shop" }),
    "GET /v1/sources": named({ id: "src_4k2v8m1n0p3q5r7s", name: "Web shop" }),
  };

  it("is of a destination and a source by their names, and of the last hours by one press", async () => {
    const page = await visit("/deliveries", LISTS);
    await page.getByText("message-1").waitFor();
    await page.getByRole("button", { name: "Destination", exact: true }).click();
    await page.getByRole("menuitemradio", { name: "Billing" }).waitFor();
    await expectSound(page);
    await page.getByRole("menuitemradio", { name: "Billing" }).click();
    await page.getByRole("button", { name: "Source", exact: true }).click();
    await page.getByRole("menuitemradio", { name: "Web shop" }).click();
    await page.getByRole("button", { name: "Time", exact: true }).click();
    await page.getByRole("button", { name: "Last 4 hours" }).click();
    await page.getByRole("button", { name: "Remove Destination: Billing" }).waitFor();
    await page.getByRole("button", { name: "Remove Source: Web shop" }).waitFor();
    await page.getByRole("button", { name: "Remove Since: 12:04:30" }).waitFor();
    expect(queriesOf(LATEST).at(-1)).toEqual({
      ...{ destinationId: BILLING.id, sourceId: "src_4k2v8m1n0p3q5r7s", since: "2026-11-22T11:04:30.123Z" },
    });
    expect(await axeFaults(page)).toEqual([]);
  });

  it("keeps a moment to the millisecond and a removed name, and takes another as typed in its zone", async () => {
    const moment = "2026-11-21T23:30:00.456Z";
    const page = await visit(`/deliveries?since=${moment}&destinationId=dst_removed`, LISTS);
    await page.getByRole("button", { name: "Since: 00:30:00", exact: true }).waitFor();
    await page.getByRole("button", { name: "Destination: dst_removed", exact: true }).click();
    const removed = page.getByRole("menuitemradio", { name: "dst_removed" });
    expect(await removed.getAttribute("aria-checked")).toBe("true");
    await page.keyboard.press("Escape");
    await removed.waitFor({ state: "detached" });
    const since = page.getByRole("button", { name: "Since: 00:30:00", exact: true });
    await since.click();
    const dialog = page.getByRole("dialog", { name: "Filter by Since" });
    await dialog.getByLabel("Until", { exact: true }).fill("2026-11-22T01:00:05");
    await dialog.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("button", { name: "Remove Until: 01:00:05" }).waitFor();
    expect(queriesOf(LATEST).at(-1)).toEqual({
      ...{ since: moment, until: "2026-11-22T00:00:05.000Z", destinationId: "dst_removed" },
    });
    await page.evaluate(() => localStorage.setItem("posthaste-zone", "UTC"));
    await page.reload();
    await page.getByRole("button", { name: "Until: 00:00:05", exact: true }).click();
    expect(
      await page.getByRole("dialog", { name: "Filter by Until" }).getByLabel("Until", { exact: true }).inputValue(),
    ).toBe("2026-11-22T00:00:05");
  });

  it("that is no moment stands as it is", async () => {
    const page = await visit("/deliveries?since=yesterday", LISTS);
    await page.getByRole("button", { name: "Remove Since: yesterday" }).waitFor();
  });
});
