/** Every question and menu that a button opens: sound in itself, reached and left by the keyboard. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { audiencePage } from "./pages/audiences.ts";
import { sourcePage } from "./pages/configuration.ts";
import { poll, startConsole, visit } from "./started-console.ts";
import { expectSound, focusOf } from "./story.ts";

startConsole();

const hasFocusIn = (page: Page, role: string) =>
  page.evaluate((within) => document.activeElement?.closest(`[role=${within}]`) !== null, role);

describe("what a button opens", () => {
  it.each([
    ["/activity", "Keys", "dialog", "Keys"],
    ["/activity", "Add filter", "menu", "Add filter"],
    ["/activity", "Time", "dialog", "Filter by Since"],
    ["/activity", "You: admin", "menu", "You: admin"],
    ["/activity", "Theme: as the machine", "menu", "Theme"],
    ["/access", "New token", "dialog", "New token"],
    ["/access", "Use it in the terminal", "dialog", "Use it in the terminal"],
    ["/access", "Revoke dashboard", "dialog", "Revoke dashboard?"],
    ["/deletions", "Ask for a deletion", "dialog", "Ask for a deletion"],
    ["/audiences", "New audience", "dialog", "New audience"],
    [audiencePage.path, "Remove the audience", "dialog", "Remove VIP customers?"],
    ["/sources", "New source", "dialog", "New source"],
    [sourcePage.path, "Rotate", "dialog", "Rotate the write key"],
  ] as const)("is sound, has the focus, and gives it back: %s, %s", async (path, opener, role, name) => {
    const page = await visit(path, audiencePage.live);
    const button = page.getByRole("button", { name: opener, exact: true }).first();
    await button.waitFor();
    await poll(() => page.locator("[data-state=loading]").count()).toBe(0);
    await button.focus();
    await page.keyboard.press("Enter");
    const opened = page.getByRole(role, { name });
    await opened.waitFor();
    await poll(() => hasFocusIn(page, role)).toBe(true);
    await expectSound(page, "all");
    await page.keyboard.press("Escape");
    await opened.waitFor({ state: "detached" });
    await focusOf(button);
  });
});

describe("an address that leads nowhere", () => {
  it("is sound, in both themes and at each width, and leads on", async () => {
    const page = await visit("/nothing/here");
    await page.getByText("This address leads to no page of the console.").waitFor();
    await expectSound(page, "all");
    await page.getByRole("link", { name: "To the first page" }).click();
    await page.waitForURL("**/overview");
  });
});

describe("the order of the keyboard", () => {
  it("is the page's own, and begins with a way past what stands around each page", async () => {
    const page = await visit("/activity");
    await page.locator("[data-state=live]").waitFor();
    expect(await page.locator('[tabindex]:not([tabindex="0"], [tabindex="-1"])').count()).toBe(0);
    const names: string[] = [];
    for (let tabs = 0; tabs < 18; tabs += 1) {
      await page.keyboard.press("Tab");
      names.push(await page.evaluate(() => document.activeElement?.textContent?.trim() ?? ""));
    }
    expect(names.slice(0, 3)).toEqual(["To the page", "Overview", "Sources"]);
    expect(names.indexOf("Access")).toBeLessThan(names.findIndex((name) => name.startsWith("Search")));
    expect(names.findIndex((name) => name.startsWith("Search"))).toBeLessThan(names.indexOf("admin"));
    expect(names.indexOf("admin")).toBeLessThan(names.indexOf("Person"));
    await page.reload();
    await page.locator("[data-state=live]").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await focusOf(page.getByRole("button", { name: "Person", exact: true }));
  });
});
