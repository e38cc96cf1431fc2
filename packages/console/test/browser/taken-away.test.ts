/** Copies and downloads: the clipboard of the machine, and files. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { exampleOf } from "../fake-control.ts";
import { eventPage } from "../pages/event.ts";
import { startConsole, visit } from "./started-browser.ts";

const RECORD = exampleOf("GET /v1/deliveries/record").body as object;

startConsole();

/** The text in the clipboard, as a paste shows it. */
async function pasted(page: Page): Promise<string> {
  await page.keyboard.press("Control+k");
  const field = page.getByRole("searchbox");
  await field.and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Control+v");
  await expect.poll(() => field.inputValue()).not.toBe("");
  return field.inputValue();
}

describe("a text", () => {
  it("is copied also where the browser has no clipboard for the page", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    const button = page.getByRole("button", { name: "Copy the user id" });
    await button.waitFor();
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true }));
    await button.click();
    await page.getByRole("button", { name: "Copied the user id" }).waitFor();
    expect(await pasted(page)).toBe("user-7");
  });
});

describe("an event", () => {
  it("cuts a long body where it is shown, and saves all of it", async () => {
    const long = JSON.stringify({ text: "x".repeat(100_000) });
    const page = await visit(eventPage.path, {
      ...eventPage.live,
      "GET /v1/deliveries/record": { body: { ...RECORD, body: long, rest: null } },
    });
    await page.getByRole("button", { name: "Request to Billing" }).click();
    await page.getByText("Cut after 65,536 characters").waitFor();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe("message-7.json");
    expect(await readFile(await saved.path(), "utf8")).toBe(long);
  });
});
