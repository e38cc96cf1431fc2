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

describe.skipIf("missing" in found)("a body of 32 KB", () => {
  it.each(["Pretty", "Raw"])("opens on the page of its event with few elements, %s", async (look) => {
    const body = `[${"1,".repeat(CALL_BYTES / 2 - 1)}1]`;
    expect(body.length).toBeGreaterThan(32_000);
    const small = await opened(await visitBody("[1]"));
    const page = await visitBody(body);
    process.stdout.write(`a body of 32 KB opens in ${await opened(page)}; one of 3 B in ${small}\n`);
    await page.getByRole("radio", { name: look }).click();
    const shown = page.locator("pre");
    const whole = look === "Raw" ? body : JSON.stringify(JSON.parse(body), null, 2);
    await expect.poll(() => shown.textContent()).toBe(whole.slice(0, 65_536));
    const elements = await shown.locator("*").count();
    expect(elements).toBeGreaterThan(0);
    expect(elements).toBeLessThan(MOST_ELEMENTS);
  });
});
