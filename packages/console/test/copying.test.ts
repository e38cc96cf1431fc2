/** Texts copied by a press or by a key, and the messages about them. */
import type { Page } from "playwright-core";
import { describe, it } from "vitest";
import { deliveriesPage } from "./pages/deliveries.ts";
import { eventPage } from "./pages/event.ts";
import { poll, startConsole, visit } from "./started-console.ts";
import { copiedOn, rowsOf } from "./story.ts";

startConsole();

/** As a page of plain http has none that another machine serves, in a browser whose older command copies nothing. */
function withoutClipboard(page: Page): Promise<void> {
  return page.evaluate(() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
    document.execCommand = () => false;
  });
}

describe("a text", () => {
  it("that cannot be copied says so, at its button and of a row", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    const button = page.getByRole("button", { name: "Copy the user id" });
    await button.waitFor();
    await withoutClipboard(page);
    await button.click();
    await page.getByRole("button", { name: "Not copied, the browser does not let it: the user id" }).waitFor();
    const list = await visit("/deliveries", deliveriesPage.live);
    await rowsOf(list).first().waitFor();
    await withoutClipboard(list);
    await list.keyboard.press("j");
    await list.keyboard.press("c");
    await list.getByText("not copied, the browser does not let it").waitFor();
  });

  it("of an event's page is copied by a key, and its button says so", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    await page.getByText("Failed").first().waitFor();
    await page.keyboard.press("c");
    await page.getByRole("button", { name: "Copied the message id" }).waitFor();
    await poll(() => copiedOn(page)).toBe("message-7");
  });
});
