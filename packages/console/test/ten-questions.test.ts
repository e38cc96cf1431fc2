/** The content of each page: its answers to ten questions. */
import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { PICTURES, pictureName } from "./browser/pictures.ts";
import { MOMENT, PAGES, VIEWS } from "./pages/all-pages.ts";
import { unanswered } from "./pages/answers.ts";
import { poll, startConsole, visit } from "./started-console.ts";

startConsole(new Date(MOMENT));

it("docs/console.md has the pictures of every page in both themes, and no other is kept", async () => {
  const names = [...PAGES.map(({ route }) => pictureName(route)), ...VIEWS.map(({ name }) => name)];
  const files = names.flatMap((name) => [`${name}-dark.png`, `${name}-light.png`]).sort();
  const text = await readFile(new URL("../../../docs/console.md", import.meta.url), "utf8");
  expect([...text.matchAll(/src="images\/(.+?)"/g)].map(([, file]) => file).sort()).toEqual(files);
  expect((await readdir(PICTURES)).filter((file) => file.endsWith(".png")).sort()).toEqual(files);
});

describe("a page", () => {
  it.each(PAGES)("answers ten questions: $route", async ({ route, path, live }) => {
    const page = await visit(path, live);
    await page.locator("[data-state=live]").first().waitFor();
    await poll(async () => unanswered(route, await page.locator("body").innerText())).toEqual([]);
  });

  it.each(VIEWS)("answers ten questions: $name", async ({ name, path, answers, shows, pressed }) => {
    const page = await visit(path, answers);
    if (pressed !== undefined) await page.getByText(pressed).first().click();
    for (const text of shows) await page.getByText(text).first().waitFor();
    await poll(async () => unanswered(name, await page.locator("body").innerText())).toEqual([]);
  });
});
