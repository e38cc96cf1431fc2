/** The palette: its finds, and their actions. */
import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { exampleOf } from "./fake-control.ts";
import { deliveriesPage } from "./pages/deliveries.ts";
import { eventPage } from "./pages/event.ts";
import { poll, startConsole, visit } from "./started-console.ts";
import { expectNarrow, expectSound, focusOf, hasLayout } from "./story.ts";

startConsole();

const READ_ONLY = {
  "GET /v1/session": { body: { name: "dana", tokenId: "tok_1", scopes: ["read"], expiresAt: null } },
};
const DESTINATION = exampleOf("GET /v1/destinations/{id}").body;
const NAMED = {
  "GET /v1/destinations": {
    body: {
      data: Array.from({ length: 12 }, (_, n) => Object.assign({}, DESTINATION, { id: `dst_${n}`, name: `Acme ${n}` })),
      ...{ nextCursor: null, asOf: null, complete: true },
    },
  },
};

async function openPalette(page: Page): Promise<void> {
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Search" }).locator("input:focus").waitFor();
}

/** Types it there and presses Enter. */
async function command(page: Page, words: string): Promise<void> {
  await openPalette(page);
  await page.keyboard.type(words);
  await page
    .getByRole("menuitem", { name: new RegExp(words, "i") })
    .first()
    .waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Search" }).waitFor({ state: "detached" });
}

/** The last lines for any text. */
const searchesFor = (text: string) => [`Events of the user ${text}`, `Events with the name ${text}`];
const lines = (page: Page) => page.getByRole("menuitem").allInnerTexts();

describe("the palette", () => {
  it("leads a user's id to the user's events, where control knows no such message", async () => {
    const verdict = exampleOf("GET /v1/events/{messageId}").body as object;
    const none = { ...(exampleOf("GET /v1/events").body as object), data: [] };
    const page = await visit("/activity", {
      "GET /v1/events/{messageId}": { body: { ...verdict, events: [] } },
      "GET /v1/events": ({ query }) =>
        query.get("userId") === "user-7" ? exampleOf("GET /v1/events") : { body: none },
    });
    await openPalette(page);
    await page.keyboard.type("user-7");
    await poll(() => lines(page)).toEqual(["Events of the user user-7"]);
    await page.getByText("Found", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/events?userId=user-7");
  });

  it("has every page and command, with the keys that do the same", async () => {
    const page = await visit("/activity", NAMED);
    await openPalette(page);
    const all = (await lines(page)).map((line) => line.replaceAll("\n", " "));
    for (const line of ["Overview g o", "Access g t", "Connect a webhook", "New token", "Use it in the terminal"]) {
      expect(all).toContain(line);
    }
    for (const line of ["Pause what comes live l", "Theme: light", "Theme: dark", "All keys ?"]) {
      expect(all).toContain(line);
    }
    for (const line of ["Times: UTC (now local, Europe/Berlin)", "Keys of a single character: off", "Sign out"]) {
      expect(all).toContain(line);
    }
    await expectSound(page, "all");
    await expectNarrow(page, 480);
    // The last line, from the first: it scrolls to it, and the field stays in sight.
    await page.keyboard.press("ArrowUp");
    const last = page.getByRole("menuitem", { name: "Sign out" });
    await poll(() => last.getAttribute("data-focused")).toBe("true");
    if (!hasLayout(page)) return;
    const placed = async (target: Locator) => {
      const box = await target.boundingBox();
      return box !== null && box.y >= 0 && box.y + box.height <= 480;
    };
    await poll(async () => [await placed(last), await placed(page.locator("input:focus"))]).toEqual([true, true]);
  });

  it("finds a destination by a part of its name, eight at the most, and leads to it", async () => {
    const page = await visit("/activity", NAMED);
    await openPalette(page);
    await page.keyboard.type("acme");
    await poll(async () => (await lines(page)).filter((line) => line.startsWith("Acme"))).toHaveLength(8);
    await page.getByText("Destinations", { exact: true }).last().waitFor();
    await page.keyboard.type(" 11");
    await poll(() => lines(page)).toEqual(["Acme 11", ...searchesFor("acme 11")]);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/destinations/dst_11");
  });

  it("takes what is named for what is meant, and else, or with a digit in it, an id", async () => {
    const page = await visit("/activity", { ...eventPage.live, ...deliveriesPage.live, ...NAMED });
    await openPalette(page);
    await page.keyboard.type("deliveries");
    await poll(async () => (await lines(page)).map((line) => line.split("\n")[0])).toEqual([
      "Deliveries",
      "Why did it not arrive? deliveries",
      ...searchesFor("deliveries"),
    ]);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/deliveries");
    await openPalette(page);
    await page.keyboard.type("dst_3");
    await poll(() => lines(page)).toEqual(["Why did it not arrive? dst_3", "Acme 3", ...searchesFor("dst_3")]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/destinations/dst_3");
  });

  it("chooses theme and zone, as the top bar shows then", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    await page.getByText("Failed").first().waitFor();
    await command(page, "theme: dark");
    expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
    await command(page, "utc");
    await poll(() => page.locator("time").first().innerText()).toContain("10:12:07.113");
    for (const [button, chosen] of [
      ["Theme: dark", "Dark"],
      ["You: admin", "UTC"],
    ] as const) {
      await page.getByRole("button", { name: button }).click();
      const choice = page.getByRole("menuitemradio", { name: chosen });
      await choice.waitFor();
      expect(await choice.getAttribute("aria-checked")).toBe("true");
      await page.keyboard.press("Escape");
      await choice.waitFor({ state: "detached" });
    }
    await openPalette(page);
    await page.keyboard.type("times");
    await poll(async () => (await lines(page))[0]).toBe("Times: local, Europe/Berlin (now UTC)");
  });

  it("says which zone the times are in, where the machine's own is UTC and another choice looks alike", async () => {
    const page = await visit("/activity", {}, { zone: "UTC" });
    await openPalette(page);
    await page.keyboard.type("times");
    await poll(async () => (await lines(page))[0]).toBe("Times: UTC (now local, UTC)");
    await page.keyboard.press("Enter");
    await openPalette(page);
    await page.keyboard.type("times");
    await poll(async () => (await lines(page))[0]).toBe("Times: local, UTC (now UTC)");
  });

  it("pauses what comes live, switches single keys off and on, and tells all keys", async () => {
    const page = await visit("/activity");
    await page.getByRole("button", { name: /^live/ }).waitFor();
    await command(page, "pause");
    await page.getByRole("button", { name: /^paused since/ }).waitFor();
    await command(page, "go on with");
    await page.getByRole("button", { name: /^live/ }).waitFor();
    await command(page, "single character: off");
    await page.keyboard.press("?");
    await page.keyboard.press("l");
    await command(page, "single character: on");
    expect(await page.getByRole("button", { name: /^live/ }).count()).toBe(1);
    await command(page, "all keys");
    const help = page.getByRole("dialog", { name: "Keys" });
    await help.waitFor();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
  });

  it("leads to a new token, and has for who may only read nothing that they may not do", async () => {
    const page = await visit("/activity");
    await command(page, "new token");
    await focusOf(page.getByRole("dialog", { name: "New token" }).getByLabel("Name"));
    const reader = await visit("/activity", READ_ONLY);
    await openPalette(reader);
    expect((await lines(reader)).filter((line) => /^(New token|Connect)/.test(line))).toEqual([]);
  });

  it("says that what was pasted is too long to be looked for, and signs out", async () => {
    const page = await visit("/activity");
    await openPalette(page);
    await page.keyboard.insertText("no such thing ".repeat(72));
    await page.getByText("It is too long to be looked for.").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Search" }).waitFor({ state: "detached" });
    await command(page, "sign out");
    await page.getByRole("heading", { name: "Sign in to Posthaste" }).waitFor();
  });
});
