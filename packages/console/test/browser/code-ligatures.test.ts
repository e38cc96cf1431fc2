/** Code is shown letter by letter: a copy of it would else look like other signs (`->`, `!=`, `>=`). */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { eventPage } from "../pages/event.ts";
import { inShort, startConsole, visit } from "./started-browser.ts";

startConsole();

/** Of each element that is set in the letters of code, whether it draws two signs as one. */
function codeOn(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("body *")]
      .map((element) => getComputedStyle(element))
      .filter(({ fontFamily }) => fontFamily.includes("JetBrains Mono"))
      .map(({ fontVariantLigatures }) => fontVariantLigatures),
  );
}

describe("code", () => {
  it.each(
    inShort(
      [
        ["an event's page", eventPage.path, "Send again", eventPage.live],
        ["the first event's page, with lines to copy", "/connect/dst_4k2v8m1n0p3q5r7s", "curl", {}],
        ["the form of a webhook, with a field for its URL", "/connect?kind=Webhooks", "Save and turn on", {}],
        ["the list of deliveries", "/deliveries", "message-1", {}],
      ] as const,
      1,
    ),
  )("has no ligatures on %s", async (_, path, text, answers) => {
    const page = await visit(path, answers);
    await page.getByText(text).first().waitFor();
    await expect.poll(async () => (await codeOn(page)).length).toBeGreaterThan(0);
    expect(new Set(await codeOn(page))).toEqual(new Set(["none"]));
  });

  it("has none in what was sent and in its headers", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    await page.getByRole("button", { name: /^Request to Billing/ }).click();
    await page.locator("pre").first().waitFor();
    expect(new Set(await codeOn(page))).toEqual(new Set(["none"]));
  });
});
