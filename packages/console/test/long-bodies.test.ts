/** Bodies as long as ingest takes them, where they are shown: their cost to the browser has a bound. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { exampleOf } from "./fake-control.ts";
import { eventPage } from "./pages/event.ts";
import { poll, startConsole, visit } from "./started-console.ts";

const RECORD = "GET /v1/deliveries/record";

startConsole();

/** As long as ingest takes, and of nothing but short tokens. */
const CALL_BYTES = 32_768;
/** The most that a body of any length may cost the browser. */
const MOST_ELEMENTS = 1500;

/** The page of an event with such a body. */
async function visitBody(body: string): Promise<Page> {
  const record = exampleOf(RECORD).body as object;
  return visit(eventPage.path, { ...eventPage.live, [RECORD]: { body: { ...record, body, rest: null } } });
}

const NUMBERS = `[${"1,".repeat(CALL_BYTES / 2 - 2)}1]`;
/** As deep as ingest takes it, again and again. */
const NESTED = `[${`${"[".repeat(98)}1${"]".repeat(98)},`.repeat(160)}1]`;
const KEYS = `{${Array.from({ length: 3650 }, (_, at) => `"k${at.toString(36)}":1`).join()}}`;

describe("a body of 32 KB", () => {
  it.each([
    ["Pretty", "numbers", NUMBERS],
    ["Pretty", "deep nesting", NESTED],
    ["Pretty", "short names", KEYS],
    ["Raw", "numbers", NUMBERS],
  ])("opens on the page of its event with few elements, %s, of %s", async (look, _, body) => {
    expect(body.length).toBeGreaterThan(31_000);
    expect(body.length).toBeLessThan(CALL_BYTES + 1);
    const page = await visitBody(body);
    await page.getByRole("button", { name: "Request to Billing" }).click();
    await page.getByRole("radio", { name: look }).click();
    const shown = page.locator("pre");
    const whole = look === "Raw" ? body : JSON.stringify(JSON.parse(body), null, 2);
    await poll(() => shown.textContent()).toBe(whole.slice(0, 65_536));
    const elements = await shown.locator("*").count();
    expect(elements).toBeGreaterThan(0);
    expect(elements).toBeLessThan(MOST_ELEMENTS);
  });
});
