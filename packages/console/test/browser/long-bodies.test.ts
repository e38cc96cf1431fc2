/** Bodies as long as ingest takes them, where they are shown: their cost to the browser has a bound. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { exampleOf } from "../fake-control.ts";
import { eventPage } from "../pages/event.ts";
import { startConsole, visit } from "./started-browser.ts";

const RECORD = "GET /v1/deliveries/record";

startConsole();

/** As long as ingest takes, and of nothing but short tokens. */
const CALL_BYTES = 32_768;

/** The page of an event with such a body. */
async function visitBody(body: string): Promise<Page> {
  const record = exampleOf(RECORD).body as object;
  return visit(eventPage.path, { ...eventPage.live, [RECORD]: { body: { ...record, body, rest: null } } });
}

/**
 * From the press to the frame after the one in which it stands there, its record read meanwhile: how long that took,
 * and how long the page's own thread was at work, which other work on the machine makes little longer.
 */
async function opened(page: Page): Promise<string> {
  const label = "Request to Billing";
  await page.getByRole("button", { name: label }).waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const workedMs = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
  };
  const beganMs = await workedMs();
  const ms = await page.evaluate(async (its) => {
    const pressedMs = performance.now();
    document.querySelector<HTMLElement>(`[aria-label='${its}']`)?.click();
    while (document.querySelector("pre") === null) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - pressedMs;
  }, label);
  const worked = (await workedMs()) - beganMs;
  await session.detach();
  return `${ms.toFixed(0)} ms, ${worked.toFixed(0)} ms of work`;
}

/** Of the blocks of lines, those that the browser lays out: of the others it has the text alone. */
function laidOut(page: Page): Promise<readonly boolean[]> {
  return page
    .locator("pre > div")
    .evaluateAll((blocks) =>
      blocks.map((block) =>
        block.appendChild(document.createElement("i")).checkVisibility({ contentVisibilityAuto: true }),
      ),
    );
}

/** Selects the whole body, and returns the selected text. */
function selectedOn(page: Page): Promise<string> {
  return page.locator("pre").evaluate((shown) => {
    getSelection()?.selectAllChildren(shown);
    return String(getSelection());
  });
}

const NUMBERS = `[${"1,".repeat(CALL_BYTES / 2 - 2)}1]`;
describe("a body of 32 KB", () => {
  it("is laid out where it is seen, and all of it is selected", async () => {
    const page = await visitBody(NUMBERS);
    await opened(page);
    const first = await laidOut(page);
    expect(first.length).toBeGreaterThan(100);
    expect(first[0]).toBe(true);
    expect(first.filter((isLaidOut) => isLaidOut).length).toBeLessThan(10);
    const whole = JSON.stringify(JSON.parse(NUMBERS), null, 2).slice(0, 65_536);
    expect(await selectedOn(page)).toBe(whole);
    await page.evaluate(() => getSelection()?.removeAllRanges());
    await page.locator("pre").evaluate((shown) => shown.scrollTo(0, shown.scrollHeight));
    await expect.poll(async () => (await laidOut(page)).at(-1)).toBe(true);
  });
});
