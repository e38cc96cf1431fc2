/** Each page as it is live: what axe finds in both themes, nothing to scroll to sideways, no text that cannot be read. */
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
