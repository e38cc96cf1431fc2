/** Rules: OR1 and OR2 of opened-row.ts. */
import { describe, expect, it } from "vitest";
import { exampleOf, problem } from "./fake-control.ts";
import { GIVEN_UP } from "./pages/event.ts";
import { control, startConsole, visit } from "./started-console.ts";
import { expectSound, focusOf, rowsOf } from "./story.ts";

const LATEST = "GET /v1/deliveries/latest";
const EVENT = "GET /v1/events/{messageId}";
const page50 = exampleOf(LATEST).body as { readonly data: readonly object[] };
const rows = (...ids: readonly string[]) => ({
  body: { ...page50, data: ids.map((messageId) => ({ ...page50.data[0], messageId })) },
});
const LIVE = { [LATEST]: rows("message-8", "message-7"), [EVENT]: { body: GIVEN_UP } };
const LIST = "/deliveries?state=dead_letter";

startConsole();

describe("an event that is opened from a list", () => {
  it("OR1, OR2: stands over the list under its own address, and leaves the row in focus when it closes", async () => {
    const page = await visit(LIST, LIVE);
    await page.getByText("message-7").click();
    const drawer = page.getByRole("dialog", { name: "message-7" });
    await drawer.getByText('"Billing" answered 503 until').waitFor();
    await drawer.getByText("Order Completed · user-7").waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/events/message-7");
    // The list was not read again for it, with its filter or without.
    const lists = () => control.requests.filter(({ operation, query }) => operation === LATEST && !query.has("cursor"));
    expect(new Set(lists().map(({ query }) => query.get("state")))).toEqual(new Set(["dead_letter"]));
    expect(await rowsOf(page).count()).toBe(2);
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    await page.waitForURL(`**${LIST}`);
    await focusOf(rowsOf(page).filter({ hasText: "message-7" }));
    await page.keyboard.press("k");
    await focusOf(rowsOf(page).filter({ hasText: "message-8" }));
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "message-8" }).getByRole("button", { name: "Close" }).click();
    await page.waitForURL(`**${LIST}`);
    await page.goForward();
    await page.getByRole("dialog", { name: "message-8" }).waitFor();
  });

  it("OR1: is the page after a reload, and the list is behind it", async () => {
    const page = await visit(LIST, LIVE);
    await page.getByText("message-7").click();
    await page.getByRole("dialog", { name: "message-7" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "message-7" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Deliveries" }).waitFor();
    expect(new URL(page.url()).search).toBe("?state=dead_letter");
  });

  it("OR1: is a page where the window is narrow", async () => {
    const page = await visit(LIST, LIVE, { width: 360 });
    await rowsOf(page).last().click();
    await page.getByRole("heading", { level: 1, name: "message-7" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.goBack();
    await page.waitForURL(`**${LIST}`);
  });

  it("has its four states over the list too", async () => {
    const page = await visit(LIST, { ...LIVE, [EVENT]: "pending" });
    await page.getByText("message-7").click();
    const drawer = page.getByRole("dialog", { name: "message-7" });
    await drawer.getByText("Loading verdict").waitFor({ state: "attached" });
    control.answer({ ...LIVE, [EVENT]: problem(500, "the log could not be read") });
    await drawer.getByText("the log could not be read").waitFor();
    control.answer({ ...LIVE, [EVENT]: { body: exampleOf(EVENT).body } });
    await drawer.getByRole("button", { name: "Try again" }).click();
    await drawer.locator("[data-state=empty]").waitFor();
    control.answer(LIVE);
    await drawer.getByText('"Billing" answered 503 until').waitFor();
    await expectSound(page, "all");
  });
});
