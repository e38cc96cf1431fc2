/** The surroundings of every page: signing in, search, keys, theme. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { problem } from "./fake-control.ts";
import { eventPage } from "./pages/event.ts";
import { control, startConsole, visit } from "./started-console.ts";
import { axeFaults, expectSound, focusOf, pressChord } from "./story.ts";

const NOBODY = { "GET /v1/session": problem(401, "send the header Authorization: Bearer <token>") };

startConsole();

async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((copied) => navigator.clipboard.writeText(copied), text);
  await page.keyboard.press("ControlOrMeta+v");
}

const askedFor = (operation: string) => control.requests.filter((request) => request.operation === operation);

describe("signing in", () => {
  it("takes a sign-in link's code out of the address, and uses it once", async () => {
    const page = await visit("/events/message-7#sign-in=code-0123456789", eventPage.live);
    await page.getByRole("heading", { name: "message-7" }).waitFor();
    expect(new URL(page.url()).hash).toBe("");
    expect(askedFor("POST /v1/session").map(({ body }) => body)).toEqual([{ code: "code-0123456789" }]);
    expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).not.toContain(
      "code-0123456789",
    );
  });

  it("says why a link opened nothing, and takes a token", async () => {
    const used = problem(401, "the code is wrong, was used before, or is older than 24 hours: ask for another link");
    const page = await visit("/#sign-in=code-0123456789", { ...NOBODY, "POST /v1/session": used });
    await page.getByText("was used before").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    control.answer({});
    await page.getByLabel("Token").fill(" pht_right ");
    await page.keyboard.press("Enter");
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    expect(askedFor("POST /v1/session").map(({ body }) => body)).toEqual([{ token: "pht_right" }]);
  });

  it("says at the field that a token is wrong, and not which part", async () => {
    const page = await visit("/", { ...NOBODY, "POST /v1/session": problem(401, "the token pht_w… is not known") });
    await page.getByLabel("Token").fill("pht_wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("this token opens nothing here").waitFor();
    expect(await page.getByLabel("Token").getAttribute("aria-invalid")).toBe("true");
    await expectSound(page, "all");
  });

  it("ends by the menu, and nothing of what was read stays", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    await page.getByText("Failed").first().waitFor();
    await page.getByRole("button", { name: "You: admin" }).click();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Posthaste" }).waitFor();
    expect(askedFor("DELETE /v1/session")).toHaveLength(1);
    expect(await page.getByText("Failed").count()).toBe(0);
  });
});

describe("search", () => {
  it("leads to an event by a key, a paste and Enter", async () => {
    const page = await visit("/activity", eventPage.live);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.keyboard.press("/");
    await page.getByRole("dialog", { name: "Search" }).waitFor();
    await paste(page, "message-7");
    await page.getByRole("menuitem", { name: "Why did it not arrive?" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "message-7" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it("is not needed for what is pasted where nothing can be typed", async () => {
    const page = await visit("/activity", eventPage.live);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await paste(page, '"message-7",\n');
    await page.getByRole("heading", { name: "message-7" }).waitFor();
  });

  it("opens from a field by Ctrl and k, where / is a letter", async () => {
    const page = await visit("/activity");
    await page.getByRole("button", { name: "Object ID" }).click();
    const field = page.getByRole("textbox", { name: "Object ID" });
    await field.focus();
    await page.keyboard.type("a/b");
    expect(await field.inputValue()).toBe("a/b");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Search" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Search" }).waitFor({ state: "detached" });
    await focusOf(field);
  });
});

describe("keys", () => {
  it("are told by ?, and can be switched off where they are one character", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    await page.getByText("Failed").first().waitFor();
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys" });
    await help.waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await help.getByText("Keys of a single character").click();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await pressChord(page, "g", "a");
    expect([await page.getByRole("dialog").count(), new URL(page.url()).pathname]).toEqual([0, eventPage.path]);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Search" }).waitFor();
  });

  it("lead to a page by two letters, whose main part has the focus then", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    await page.getByText("Failed").first().waitFor();
    await pressChord(page, "g", "a");
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    await focusOf(page.locator("#page"));
  });
});

describe("what is chosen", () => {
  it("as theme and zone holds after a reload", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    const theme = () => page.evaluate(() => document.documentElement.dataset["theme"]);
    await page.getByText("Failed").first().waitFor();
    expect(await theme()).toBeUndefined();
    await page.getByRole("button", { name: "Theme: as the machine" }).click();
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    await page.getByRole("button", { name: "You: admin" }).click();
    await page.getByRole("menuitemradio", { name: "Local: Europe/Berlin" }).waitFor();
    await page.getByRole("menuitemradio", { name: "UTC" }).click();
    await page.reload();
    await page.getByRole("button", { name: "Theme: dark" }).waitFor();
    await page.getByText("Failed").first().waitFor();
    expect(await theme()).toBe("dark");
    expect(await page.locator("time").first().innerText()).toContain("10:12:07.113");
  });
});

describe("an address that leads nowhere", () => {
  it("says so within the frame", async () => {
    const page = await visit("/nothing/here");
    await page.getByRole("heading", { name: "No such page" }).waitFor();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
  });
});

describe("a narrow screen", () => {
  it("has the pages in a bar of five, the rare ones under More", async () => {
    const page = await visit("/access", {}, { width: 360 });
    const bar = page.getByRole("navigation", { name: "Pages" });
    await bar.getByText("Overview").waitFor();
    const shown = (await bar.getByRole("listitem").allInnerTexts()).filter((text) => text !== "");
    expect(shown).toEqual(["Overview", "Destinations", "Deliveries", "Dead letters", "More"]);
    await bar.getByRole("button", { name: "More" }).click();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("menuitem", { name: "Access" }).click();
    await page.waitForURL("**/access");
  });
});
