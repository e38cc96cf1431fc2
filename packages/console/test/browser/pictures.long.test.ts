/** Pictures of each page: DP1 and DP2 of pictures.ts. */
import { describe, expect, it } from "vitest";
import { MOMENT, PAGES, VIEWS } from "../pages/all-pages.ts";
import { drawnOtherwise, pictureName } from "./pictures.ts";
import { startConsole, visit } from "./started-browser.ts";

startConsole(new Date(MOMENT));

describe("a page", () => {
  it.each(PAGES)("looks as docs/console.md shows it: $route", async ({ route, path, live, shows }) => {
    const page = await visit(path, live);
    for (const text of shows) await page.getByText(text).first().waitFor();
    expect(await drawnOtherwise(page, pictureName(route))).toEqual([]);
  });

  it.each(VIEWS)("looks as docs/console.md shows it: $name", async ({ name, path, answers, shows, pressed }) => {
    const page = await visit(path, answers);
    if (pressed !== undefined) await page.getByText(pressed).first().click();
    for (const text of shows) await page.getByText(text).first().waitFor();
    expect(await drawnOtherwise(page, name)).toEqual([]);
  });
});
