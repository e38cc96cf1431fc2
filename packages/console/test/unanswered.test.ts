/** Control that fails or does not answer: LD1 and LD2 of loaded.tsx. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { exampleOf, problem } from "./fake-control.ts";
import { replayPage } from "./pages/replay.ts";
import type { VisitOptions } from "./ring.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { pressChord } from "./story.ts";

const LATEST = "GET /v1/deliveries/latest";
const REPLAY = "GET /v1/replays/{id}";
const WORDS = "what came since could not be read: the log could not be read";
const failed = (page: Page) => page.locator("[data-state=error]");

startConsole();

const OWN_TIME: VisitOptions = { isOwn: true, prepare: ({ clock }) => clock.install() };

/** Its time passes with its requests; `until` is asked each second of it. */
async function pass(page: Page, until: () => Promise<boolean> | boolean): Promise<void> {
  await poll(async () => {
    await page.clock.runFor(1000);
    return until();
  }).toBe(true);
}

const reads = (operation: string) => control.requests.filter((each) => each.operation === operation).length;

describe("control that does not answer", () => {
  it("LD1, LD2: is asked again by itself until it does, and since when stays since when", async () => {
    const page = await visit("/deliveries", { [LATEST]: problem(503, "the brokers do not answer") }, OWN_TIME);
    await pass(page, async () => (await failed(page).count()) === 1);
    const since = await failed(page).locator("time").first().getAttribute("datetime");
    await failed(page).getByText("it is tried again every five seconds").waitFor();
    const before = reads(LATEST);
    const shown = new Set<number>();
    await pass(page, async () => {
      shown.add(await failed(page).count());
      return reads(LATEST) > before + 5;
    });
    expect([...shown]).toEqual([1]);
    expect(await failed(page).locator("time").first().getAttribute("datetime")).toBe(since);
    control.answer({});
    await pass(page, async () => (await page.locator("[data-state=live]").count()) === 1);
    expect(await failed(page).count()).toBe(0);
  });

  it("LD2: is not asked while what comes live is paused", async () => {
    const page = await visit("/deliveries", { [LATEST]: problem(503, "the brokers do not answer") });
    await failed(page).getByText("it is tried again every five seconds").waitFor();
    await page.keyboard.press("l");
    await page.getByRole("button", { name: /^paused since/ }).waitFor();
    await poll(() => failed(page).innerText()).not.toContain("tried again");
  });

  it("LD1: leaves what was read, and says since when it failed first", async () => {
    const page = await visit(replayPage.path, replayPage.live, OWN_TIME);
    await pass(page, async () => (await page.getByText("7,812").count()) > 0);
    control.answer({ ...replayPage.live, [REPLAY]: problem(500, "the log could not be read") });
    await pass(page, async () => (await failed(page).count()) === 1);
    const since = await failed(page).locator("time").first().getAttribute("datetime");
    const before = reads(REPLAY);
    await pass(page, () => reads(REPLAY) > before + 5);
    expect(await failed(page).locator("time").first().getAttribute("datetime")).toBe(since);
    expect(await page.getByText("7,812").count()).toBe(1);
  });

  it("is said of by a list whose rows stay, beside as of when they are", async () => {
    const rows = { body: { ...(exampleOf(LATEST).body as object), asOf: "2026-11-22T14:12:10.000Z", complete: true } };
    const page = await visit("/deliveries", { [LATEST]: rows });
    await page.getByText("message-1").first().waitFor();
    control.answer({ [LATEST]: problem(500, "the log could not be read") });
    await page.getByText(WORDS).waitFor();
    await page.getByText("message-1").first().waitFor();
    control.answer({ [LATEST]: rows });
    await page.getByText(WORDS).waitFor({ state: "detached" });
  });

  it("is asked by a browser that has no network, since it may be on the same machine", async () => {
    const page = await visit("/access");
    await page.locator("[data-state=live]").waitFor();
    await page.evaluate(() => {
      Object.defineProperty(navigator, "onLine", { value: false, configurable: true });
      window.dispatchEvent(new Event("offline"));
    });
    await pressChord(page, "g", "a");
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    await page.locator("[data-state=live]").waitFor();
  });
});
