/** The rules of live lists that only a browser shows: the place of rows and words, and the number of streams. */
import { describe, expect, it } from "vitest";
import { attempt, dot, dotSays, LATEST, latest } from "../live-rows.ts";
import { sidewaysPx } from "../story.ts";
import { control, startConsole, visit } from "./started-browser.ts";

startConsole();

describe("the dot", () => {
  it.each([360, 1280])("says in words how the page is, %i pixels wide", async (width) => {
    const page = await visit("/deliveries", { [LATEST]: latest(1) }, { width });
    await dotSays(page, "live");
    const words = async () => {
      const shown = dot(page).locator("span:not([aria-hidden])");
      return [await shown.innerText(), await shown.isVisible(), await sidewaysPx(page)];
    };
    await expect.poll(words).toEqual(["live", true, 0]);
    await page.keyboard.press("l");
    await expect.poll(words).toEqual([expect.stringMatching(/^paused since /), true, 0]);
  });
});

describe("the stream", () => {
  it("is held by the tab that is shown alone, so that eight of them work", async () => {
    // Its tabs close with it.
    const page = await visit("/deliveries", { [LATEST]: latest(1) }, { isOwn: true });
    await dotSays(page, "live");
    await page.evaluate(() => {
      Object.defineProperty(document, "hidden", { value: true, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    });
    await expect.poll(() => control.streams()).toEqual([]);
    for (let tab = 0; tab < 6; tab += 1) {
      const other = await page.context().newPage();
      await other.addInitScript(() => Object.defineProperty(document, "hidden", { value: true }));
      await other.goto(`${control.url}/deliveries`);
      await other.getByText("message-1").waitFor();
    }
    const last = await page.context().newPage();
    await last.goto(`${control.url}/deliveries`);
    await dotSays(last, "live");
    await last.getByText("message-1").waitFor();
    // The one that it opened before it had its list is closed by then.
    await expect.poll(() => control.streams().map((each) => each.get("topics"))).toEqual(["dead-letters,deliveries"]);
    await last.close();
    await page.evaluate(() => {
      Object.defineProperty(document, "hidden", { value: false });
      document.dispatchEvent(new Event("visibilitychange"));
    });
    await expect.poll(() => control.streams().map((each) => each.get("lastEventId"))).toEqual([control.lastId()]);
  });
});

describe("a list that comes live", () => {
  it("holds still while a thousand rows come, and says how many at once", async () => {
    const page = await visit("/deliveries", { [LATEST]: latest(40) });
    await page.getByText("message-1", { exact: true }).waitFor();
    await dotSays(page, "live");
    await page.evaluate(() => scrollTo(0, 500));
    const place = () =>
      page.evaluate(() => [scrollY, document.querySelector("main [role=row][data-key]")?.getBoundingClientRect().top]);
    const before = await place();
    control.answer({ [LATEST]: latest(52) });
    for (let row = 0; row < 1000; row += 1) control.tell("deliveries", { ...attempt, messageId: `other-${row}` });
    await page.getByRole("button", { name: "12 new" }).waitFor();
    expect(await place()).toEqual(before);
  });
});
