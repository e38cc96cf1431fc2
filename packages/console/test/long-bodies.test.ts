/** Bodies as long as ingest takes them, where they are shown: what they cost the browser has a bound. */
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
const MOST_ELEMENTS = 2500;

describe.skipIf("missing" in found)("a body of 32 KB", () => {
  it.each(["Pretty", "Raw"])("opens on the page of its event with few elements, %s", async (look) => {
    const body = `[${"1,".repeat(CALL_BYTES / 2 - 1)}1]`;
    expect(body.length).toBeGreaterThan(32_000);
    const record = exampleOf(RECORD).body as object;
    const page = await visit(eventPage.path, {
      ...eventPage.live,
      [RECORD]: { body: { ...record, body, rest: null } },
    });
    await page.getByRole("button", { name: "Request to dst_4k2v8m1n0p3q5r7s" }).waitFor();
    // From the press to the frame after the one in which it stands there, its record read meanwhile.
    const openedMs = await page.evaluate(async () => {
      const pressedMs = performance.now();
      document.querySelector<HTMLElement>("[aria-label='Request to dst_4k2v8m1n0p3q5r7s']")?.click();
      while (document.querySelector("pre") === null) await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
      return performance.now() - pressedMs;
    });
    process.stdout.write(`a body of 32 KB is opened in ${openedMs.toFixed(0)} ms\n`);
    await page.getByRole("radio", { name: look }).click();
    const shown = page.locator("pre");
    const whole = look === "Raw" ? body : JSON.stringify(JSON.parse(body), null, 2);
    await expect.poll(() => shown.textContent()).toBe(whole.slice(0, 65_536));
    const elements = await shown.locator("*").count();
    expect(elements).toBeGreaterThan(0);
    expect(elements).toBeLessThan(MOST_ELEMENTS);
  });
});
