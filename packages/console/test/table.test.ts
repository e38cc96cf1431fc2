/** Rules: TB1 of table.tsx. */
import { describe, expect, it } from "vitest";
import { exampleOf } from "./fake-control.ts";
import { poll, startConsole, visit } from "./started-console.ts";
import { axeFaults, focusOf, rowsOf } from "./story.ts";

const LATEST = "GET /v1/deliveries/latest";
const example = exampleOf(LATEST).body as { readonly data: readonly object[] };

startConsole();

function visitRows(count: number) {
  const data = Array.from({ length: count }, (_, n) => ({ ...example.data[0], messageId: `message-${n}` }));
  return visit("/deliveries", { [LATEST]: { body: { ...example, data, nextCursor: "more" } } });
}

describe("a table", () => {
  it("TB1: is one stop of Tab, whose rows and their controls the arrows go through", async () => {
    const page = await visitRows(30);
    const rows = rowsOf(page);
    await page.getByRole("button", { name: "More", exact: true }).waitFor();
    await page.getByRole("button", { name: "Add filter" }).focus();
    await page.keyboard.press("Tab");
    await focusOf(page.getByRole("checkbox", { name: "Select all rows shown" }));
    await page.keyboard.press("Tab");
    await focusOf(rows.nth(0));
    for (const [key, row] of [
      ["PageDown", 10],
      ["ArrowDown", 11],
      ["PageUp", 1],
      ["End", 29],
      ["Home", 0],
      ["ArrowUp", 0],
    ] as const) {
      await page.keyboard.press(key);
      await focusOf(rows.nth(row));
    }
    await page.keyboard.press("ArrowRight");
    await focusOf(rows.nth(0).getByRole("checkbox"));
    await page.keyboard.press("ArrowRight");
    await focusOf(rows.nth(0).getByRole("button", { name: "Copy the message id" }));
    await page.keyboard.press("ArrowRight");
    await focusOf(rows.nth(0).getByRole("button", { name: /^Send again/ }));
    await page.keyboard.press("ArrowRight");
    await focusOf(rows.nth(0));
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowDown");
    await focusOf(rows.nth(1));
    await page.keyboard.press("Tab");
    await focusOf(page.getByRole("button", { name: "More", exact: true }));
    await page.keyboard.press("Shift+Tab");
    await focusOf(rows.nth(1));
    await page.keyboard.press("Shift+Tab");
    await focusOf(page.getByRole("checkbox", { name: "Select all rows shown" }));
    expect(await axeFaults(page)).toEqual([]);
  });

  it("names its columns, and its rows by their places", async () => {
    const page = await visitRows(2);
    await poll(() => rowsOf(page).count()).toBe(2);
    expect((await page.getByRole("columnheader").allInnerTexts()).map((text) => text.trim())).toEqual([
      "",
      "Event",
      "User",
      "Destination",
      "State",
      "Updated",
      "Message ID",
      "Actions",
    ]);
    const places = await rowsOf(page).evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-rowindex")));
    expect([places, await page.getByRole("grid").getAttribute("aria-rowcount")]).toEqual([["2", "3"], "3"]);
  });
});
