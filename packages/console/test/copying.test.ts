/** What is copied by a press or by a key, and what is said of it. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { copiedOn, found } from "./browser.ts";
import { deliveriesPage } from "./pages/deliveries.ts";
import { eventPage } from "./pages/event.ts";
import { startConsole, visit } from "./started-console.ts";

startConsole();

/** As a page of plain http has none that another machine serves; `command`: whether the browser's older one copies. */
function withoutClipboard(page: Page, command: "works" | "fails"): Promise<void> {
  return page.evaluate((its) => {
    Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
    if (its === "fails") document.execCommand = () => false;
  }, command);
}

/** What the clipboard holds, as somebody sees who pastes it. */
async function pasted(page: Page): Promise<string> {
  await page.keyboard.press("Control+k");
  const field = page.getByRole("searchbox");
  await field.waitFor();
  await page.keyboard.press("Control+v");
  await expect.poll(() => field.inputValue()).not.toBe("");
  return field.inputValue();
}

describe.skipIf("missing" in found)("a text", () => {
  it("is copied also where the browser has no clipboard for the page", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    const button = page.getByRole("button", { name: "Copy the user id" });
    await button.waitFor();
    await withoutClipboard(page, "works");
    await button.click();
    await page.getByRole("button", { name: "Copied the user id" }).waitFor();
    expect(await pasted(page)).toBe("user-7");
  });

  it("that cannot be copied says so, at its button and of a row", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    const button = page.getByRole("button", { name: "Copy the user id" });
    await button.waitFor();
    await withoutClipboard(page, "fails");
    await button.click();
    await page.getByRole("button", { name: "Not copied, the browser does not let it: the user id" }).waitFor();
    const list = await visit("/deliveries", deliveriesPage.live);
    await list.getByRole("row").first().waitFor();
    await withoutClipboard(list, "fails");
    await list.keyboard.press("j");
    await list.keyboard.press("c");
    await list.getByText("not copied, the browser does not let it").waitFor();
  });

  it("of an event's page is copied by a key, and its button says so", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    await page.getByText("Given up").first().waitFor();
    await page.keyboard.press("c");
    await page.getByRole("button", { name: "Copied the message id" }).waitFor();
    await expect.poll(() => copiedOn(page)).toBe("message-7");
  });
});
