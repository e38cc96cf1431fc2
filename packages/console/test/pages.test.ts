/** Every page in its four states, and refused, in both themes. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { axeFaults, contrastFaults, found, sidewaysPx } from "./browser.ts";
import { type FakeAnswers, problem } from "./fake-control.ts";
import { accessPage, activityPage } from "./pages/access.ts";
import { destinationPage, destinationsPage, sourcePage, sourcesPage } from "./pages/configuration.ts";
import { deadLettersPage, deliveriesPage, lettersPage } from "./pages/deliveries.ts";
import { eventPage } from "./pages/event.ts";
import type { TestedPage } from "./pages/tested-page.ts";
import { control, startConsole, visit } from "./started-console.ts";

const PAGES: readonly TestedPage[] = [
  eventPage,
  deliveriesPage,
  deadLettersPage,
  lettersPage,
  activityPage,
  accessPage,
  sourcesPage,
  sourcePage,
  destinationsPage,
  destinationPage,
];

const WIDTHS = [360, 768, 1280];

startConsole();

it("has all pages among those that are tested here", async () => {
  const routes = await readFile(new URL("../src/routes.tsx", import.meta.url), "utf8");
  const paths = [...routes.matchAll(/^ {2}path: "(.+)",$/gm)].map(([, path]) => path);
  expect(PAGES.map(({ route }) => route).sort()).toEqual(paths.filter((path) => path !== "/").sort());
});

/** In both themes nothing that axe finds, at no width anything to scroll to sideways. */
async function expectSound(page: Page): Promise<void> {
  expect(await axeFaults(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await contrastFaults(page)).toEqual([]);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    expect([width, await sidewaysPx(page)]).toEqual([width, 0]);
  }
}

describe.skipIf("missing" in found)("a page", () => {
  it.each(PAGES)("shows what is there: $route", async ({ path, live, title, shows }) => {
    const page = await visit(path, live);
    await page.locator("[data-state=live]").first().waitFor();
    for (const text of shows) await page.getByText(text).first().waitFor();
    expect(await page.title()).toBe(title);
    await expectSound(page);
  });

  it.each(PAGES)("loads without a word for 150 ms, then says that it does: $route", async ({ path, reads }) => {
    const page = await visit(path, { [reads]: "pending" });
    const skeleton = page.locator("[data-state=loading]");
    await skeleton.waitFor();
    await skeleton.getByText(/^Loading /).waitFor({ state: "attached" });
    await expectSound(page);
  });

  it.each(PAGES)("says that nothing is there, and what to do: $route", async ({ path, empty }) => {
    const page = await visit(path, empty);
    const told = page.locator("[data-state=empty]").first();
    await told.waitFor();
    expect(await told.locator("code, button, a").count()).toBeGreaterThan(0);
    await expectSound(page);
  });

  it.each(PAGES)("says what failed, and reads again when asked: $route", async ({ path, reads, live, shows }) => {
    const failing: FakeAnswers = { ...live, [reads]: problem(500, "the log could not be read") };
    const page = await visit(path, failing);
    const told = page.locator("[data-state=error]").first();
    await told.waitFor();
    const text = await told.innerText();
    expect(text).toContain("the log could not be read");
    expect(text).toContain("req_fake0123456789");
    await expectSound(page);
    control.answer(live);
    await told.getByRole("button", { name: "Try again" }).click();
    for (const each of shows) await page.getByText(each).first().waitFor();
    expect(await page.locator("[data-state=error]").count()).toBe(0);
  });

  it.each(PAGES)("says that the token does not let one: $route", async ({ path, reads, live }) => {
    const page = await visit(path, { ...live, [reads]: problem(403, "this needs a token with the scope read") });
    await page.getByText(/You may not see/).waitFor();
    await page.getByText("this needs a token with the scope read").waitFor();
    await expectSound(page);
  });

  it.each(PAGES)("stays under the question to sign in again: $route", async ({ path, reads, live }) => {
    const page = await visit(path, { ...live, [reads]: problem(401, "the session is over: sign in again") });
    const dialog = page.getByRole("dialog", { name: "Your session is over" });
    await dialog.waitFor();
    expect(page.url()).toBe(control.url + path);
    await expectSound(page);
    control.answer(live);
    await dialog.getByLabel("Token").fill("pht_right");
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.locator("[data-state=live]").first().waitFor();
  });
});
