/** Bodies as long as ingest takes them, where they are shown: what they cost the browser has a bound. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { found } from "./browser.ts";
import { exampleOf } from "./fake-control.ts";
import { eventPage } from "./pages/event.ts";
import { startConsole, visit } from "./started-console.ts";

const RECORD = "GET /v1/deliveries/record";

startConsole();

/** As long as ingest takes, and of nothing but short tokens. */
const CALL_BYTES = 32_768;
/** What a body of any length may cost the browser. */
const MOST_ELEMENTS = 1500;

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

/** What is copied of all that is shown. */
function selectedOn(page: Page): Promise<string> {
  return page.locator("pre").evaluate((shown) => {
    getSelection()?.selectAllChildren(shown);
    return String(getSelection());
  });
}

const NUMBERS = `[${"1,".repeat(CALL_BYTES / 2 - 2)}1]`;
/** As deep as ingest takes it, again and again. */
const NESTED = `[${`${"[".repeat(98)}1${"]".repeat(98)},`.repeat(160)}1]`;
const KEYS = `{${Array.from({ length: 3650 }, (_, at) => `"k${at.toString(36)}":1`).join()}}`;

describe.skipIf("missing" in found)("a body of 32 KB", () => {
  it.each([
    ["Pretty", "numbers", NUMBERS],
    ["Pretty", "deep nesting", NESTED],
    ["Pretty", "short names", KEYS],
    ["Raw", "numbers", NUMBERS],
  ])("opens on the page of its event with few elements, %s, of %s", async (look, what, body) => {
    expect(body.length).toBeGreaterThan(31_000);
    expect(body.length).toBeLessThan(CALL_BYTES + 1);
    const small = await opened(await visitBody("[1]"));
    const page = await visitBody(body);
    process.stdout.write(`a body of 32 KB of ${what} opens in ${await opened(page)}; one of 3 B in ${small}\n`);
    await page.getByRole("radio", { name: look }).click();
    const shown = page.locator("pre");
    const whole = look === "Raw" ? body : JSON.stringify(JSON.parse(body), null, 2);
    await expect.poll(() => shown.textContent()).toBe(whole.slice(0, 65_536));
    const elements = await shown.locator("*").count();
    expect(elements).toBeGreaterThan(0);
    expect(elements).toBeLessThan(MOST_ELEMENTS);
  });

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
