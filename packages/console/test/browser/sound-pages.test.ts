/** Each page while live, in both themes: no violation that axe finds, no sideways scroll, no text that is cut off. */
import { describe, it } from "vitest";
import { MOMENT, PAGES } from "../pages/all-pages.ts";
import { expectSound } from "../story.ts";
import { startConsole, visit } from "./started-browser.ts";

startConsole(new Date(MOMENT));

describe("a page in a browser", () => {
  it.each(PAGES)("is sound: $route", async ({ path, live, shows }) => {
    const page = await visit(path, live);
    for (const each of shows) await page.getByText(each).first().waitFor();
    await expectSound(page, "all");
  });
});
