/** What stands on a page stays where it is while the rest of it comes, however late that is. */
import { describe, expect, it } from "vitest";
import { found } from "./browser.ts";
import type { FakeAnswers } from "./fake-control.ts";
import { destinationPage, sourcePage } from "./pages/configuration.ts";
import { deliveriesPage } from "./pages/deliveries.ts";
import { eventPage } from "./pages/event.ts";
import { overviewPage } from "./pages/overview.ts";
import { control, startConsole, visit } from "./started-console.ts";

const NAMES = ["GET /v1/destinations", "GET /v1/sources"];
const ATTEMPTS_OF = `${deliveriesPage.path}?destinationId=dst_4k2v8m1n0p3q5r7s`;
const DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";
/**
 * By the browser's own measure, with the texts that moved; what a person's doing moved is none. What was measured and
 * not told of yet is taken too: it would be told of later, with what came then.
 */
const WATCH = `
  const shifts = [];
  const keep = (entries) => {
    for (const { value, hadRecentInput, sources } of entries) {
      if (!hadRecentInput) shifts.push([value, ...sources.map(({ node }) => node?.textContent)]);
    }
  };
  const observer = new PerformanceObserver((list) => keep(list.getEntries()));
  observer.observe({ type: "layout-shift", buffered: true });
  globalThis.takeShifts = () => {
    keep(observer.takeRecords());
    return shifts.splice(0);
  };
`;

startConsole();

const pendingOf = (operations: readonly string[]): FakeAnswers =>
  Object.fromEntries(operations.map((operation) => [operation, "pending"]));

describe.skipIf("missing" in found)("nothing moves", () => {
  it.each([
    ["names come after an event's verdict", eventPage.path, eventPage.live, NAMES, "Verdict"],
    ["names come after the deliveries of one destination", ATTEMPTS_OF, deliveriesPage.live, NAMES, "track"],
    ["the stream begins", "/sources", {}, ["GET /v1/live"], "Web shop"],
    [
      "a destination's health comes after its charts",
      ...[destinationPage.path, destinationPage.live, ["GET /v1/health/destinations/{id}"], "Loading health"],
    ],
    [
      "a destination's charts come after its health",
      ...[destinationPage.path, destinationPage.live, ["GET /v1/destinations/{id}/series"], "Waiting: 3"],
    ],
    ["a source's calls come last", sourcePage.path, sourcePage.live, ["GET /v1/sources/{id}/calls"], "Loading calls"],
    [
      "what an overview says beside its figures comes last",
      ...[overviewPage.path, overviewPage.live, ["GET /v1/dead-letters/groups", "GET /v1/audit"], "1 needs you"],
    ],
  ] as const)("where %s", async (_, path, live, late, stands) => {
    const page = await visit(path, live);
    await page.addInitScript(WATCH);
    control.answer({ ...live, ...pendingOf(late) });
    await page.reload();
    const shown = page.getByText(stands).or(page.getByRole("region", { name: stands }));
    await shown.first().waitFor({ state: "attached" });
    const isAsked = (operation: string) => control.requests.some((each) => each.operation === operation);
    await expect.poll(() => late.filter((each) => !isAsked(each))).toEqual([]);
    // Letters of another font are another matter: they come when the browser has them.
    await page.evaluate("document.fonts.ready");
    await page.evaluate(DRAWN);
    await page.evaluate("globalThis.takeShifts()");
    control.answer(live);
    await page.locator("main [data-state=live]").first().waitFor();
    await page.getByRole("button", { name: /^live/ }).waitFor();
    await expect.poll(() => page.locator("[data-state=loading]").count()).toBe(0);
    await page.evaluate(DRAWN);
    expect(await page.evaluate("globalThis.takeShifts()")).toEqual([]);
  });
});
