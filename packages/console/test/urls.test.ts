/** URLs of one host are told apart wherever they stand, however long they are. */
import type { Locator } from "playwright-core";
import { describe, expect, it } from "vitest";
import { exampleOf } from "./fake-control.ts";
import { poll, startConsole, visit } from "./started-console.ts";
import { copiedOn, expectSound, rowsOf } from "./story.ts";

const DESTINATION = exampleOf("GET /v1/destinations/{id}").body as { readonly id: string; readonly settings: object };
/** Their first forty characters are the same, and their last. */
const URLS = ["1001", "1002"].map(
  (account) => `https://hooks.acme.example/v1/accounts/${account}/webhooks/posthaste/receive-events`,
);
const SETTINGS = { ...DESTINATION.settings, urls: URLS.map((url) => ({ url, headers: {} })) };

/** The URLs within it, as they are seen: a text that is cut off counts as missing. */
const seenIn = (part: Locator) =>
  part.locator("code").evaluateAll((codes) => {
    const isWhole = (code: Element) => code.scrollWidth <= code.clientWidth || code.clientWidth === 0;
    return codes.filter(isWhole).flatMap((code) => code.textContent?.match(/https:\S+/g) ?? []);
  });

startConsole();

describe("two long URLs of one host", () => {
  it.each([360, 1280])("are whole in the title of a row of destinations, %i pixels wide", async (width) => {
    const { data, ...page } = exampleOf("GET /v1/destinations").body as { readonly data: readonly object[] };
    const body = { ...page, data: [{ ...data[0], settings: SETTINGS }] };
    const list = await visit("/destinations", { "GET /v1/destinations": { body } }, { width });
    const cell = rowsOf(list).first().locator("[data-heading=URL]");
    await cell.waitFor();
    // A row is one line: the whole of both stands in its title.
    expect(await cell.getAttribute("title")).toBe(URLS.join(" "));
    await expectSound(list);
  });

  it("are whole in what a test answered", async () => {
    const operation = "POST /v1/destinations/{id}/test";
    const { urls } = exampleOf(operation).body as { readonly urls: readonly object[] };
    const body = { urls: URLS.map((url) => ({ ...urls[0], url })) };
    const page = await visit(`/destinations/${DESTINATION.id}`, { [operation]: { body } });
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByRole("button", { name: "Send a test by the saved settings" }).click();
    const reported = page.getByRole("dialog").getByRole("status");
    await reported.getByRole("listitem").first().waitFor();
    expect(await seenIn(reported)).toEqual(URLS);
    await expectSound(page);
  });

  it("are whole in how a destination is, where they would look the same if they were shortened", async () => {
    const operation = "GET /v1/health/destinations/{id}";
    const health = exampleOf(operation).body as { readonly reason: object; readonly urls: readonly object[] };
    const [first, second = ""] = URLS;
    const other = "https://hooks.acme.example/v1/accounts/1003/webhooks/posthaste/another-path";
    const urls = [first, second, other].map((url) => ({ ...health.urls[0], url }));
    const page = await visit(`/destinations/${DESTINATION.id}?tab=health`, {
      [operation]: { body: { ...health, urls, reason: { ...health.reason, url: second } } },
    });
    const part = page.getByRole("region", { name: "URLs" });
    await part.waitFor();
    expect(await seenIn(part)).toEqual([first, second, "https://hooks.acme.example/v1/a…her-path"]);
    expect(await part.locator("code").evaluateAll((codes) => codes.map((code) => code.getAttribute("title")))).toEqual([
      ...[first, second, other],
    ]);
    expect(await seenIn(page.getByRole("region", { name: "Now" }))).toEqual([second]);
    await part.getByRole("button", { name: "Copy the URL 3" }).press("Enter");
    await poll(() => copiedOn(page)).toBe(other);
    await expectSound(page);
  });
});
