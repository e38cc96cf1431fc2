/** The list of destinations with each one's hour, how a delivery is settled in a drawing, and the type of a test. */
import { describe, expect, it } from "vitest";
import { axeFaults, found } from "./browser.ts";
import { exampleOf } from "./fake-control.ts";
import { destinationsPage } from "./pages/configuration.ts";
import { control, startConsole, visit } from "./started-console.ts";

const DESTINATION = exampleOf("GET /v1/destinations/{id}").body as { readonly id: string };
const HEALTH = "GET /v1/health/destinations";
const [listed] = (exampleOf("GET /v1/destinations").body as { readonly data: readonly { readonly id: string }[] }).data;

startConsole();

const sentTypes = (operation: string) =>
  control.requests
    .filter((each) => each.operation === operation)
    .map(({ body }) => (body as { readonly type?: unknown }).type);

describe.skipIf("missing" in found)("destinations", () => {
  it("have their last hour drawn, what failed on what was delivered, and said", async () => {
    const healths = exampleOf(HEALTH).body as { readonly data: readonly object[] };
    const of = (lastHour: object) => ({
      body: { ...healths, data: [{ ...healths.data[0], destinationId: listed?.id, lastHour }] },
    });
    const [delivered, failed] = [Array(12).fill(0), Array(12).fill(0)];
    const page = await visit("/destinations", {
      [HEALTH]: of({ delivered: delivered.with(0, 400).with(11, 72), failed: failed.with(0, 1).with(11, 27) }),
    });
    const hour = page.getByRole("img", { name: "the last hour by five minutes" });
    await hour.waitFor();
    expect(await hour.getAttribute("aria-label")).toBe(
      "the last hour by five minutes: 472 delivered, at most 400, 28 failed, at most 27",
    );
    const heights = await hour.locator("rect").evaluateAll((rects) => rects.map((rect) => rect.getAttribute("height")));
    expect([heights.length, heights.slice(0, 4), heights.slice(-2)]).toEqual([24, ["20", "1", "0", "0"], ["4", "1"]]);
    expect(await axeFaults(page)).toEqual([]);
    control.answer({ ...destinationsPage.live, [HEALTH]: of({ delivered, failed }) });
    await page.getByRole("img", { name: "the last hour by five minutes: none delivered, none failed" }).waitFor();
  });

  it("are asked how they are in the pages in which they stand there, all of them again and again", async () => {
    const [example] = (exampleOf("GET /v1/destinations").body as { readonly data: readonly object[] }).data;
    const rows = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ ...example, id: `dst_${from + n}`, name: `Shop ${from + n}` }));
    const page = await visit("/destinations", {
      "GET /v1/destinations": ({ query }) => {
        const isMore = query.get("cursor") !== null;
        const data = isMore ? rows(50, 2) : rows(0, 50);
        return { body: { data, nextCursor: isMore ? null : "more", asOf: null, complete: true } };
      },
      [HEALTH]: { body: { data: [], nextCursor: null, asOf: null, complete: true } },
    });
    await page.getByText("Shop 49").waitFor();
    const asked = () =>
      control.requests
        .filter(({ operation }) => operation === HEALTH)
        .map(({ query }) => [query.get("ids")?.split(",").length, query.get("limit")]);
    expect(new Set(asked().map(String))).toEqual(new Set(["50,50"]));
    await page.getByRole("button", { name: "More" }).click();
    await page.getByText("Shop 51").waitFor();
    expect(asked()).toContainEqual([2, "2"]);
    await expect.poll(() => asked().filter(([count]) => count === 2).length).toBeGreaterThan(1);
    await expect.poll(() => asked().filter(([count]) => count === 50).length).toBeGreaterThan(1);
  });

  it.each([
    ["/connect?kind=Webhooks", "More: name, settling, body"],
    [`/destinations/${DESTINATION.id}?tab=settings`, null],
  ])("show in a drawing when a delivery is settled: %s", async (path, folded) => {
    const page = await visit(path);
    if (folded !== null) await page.getByText(folded).click();
    const choice = page.getByLabel("A delivery is settled");
    for (const [settle, said, ways] of [
      ["each", "an event goes to both URLs, whatever the other one answers", [null, null]],
      ["any", "an event goes to the first URL, and to the second where the first did not take it", [null, "4 3"]],
    ] as const) {
      await choice.selectOption(settle);
      const drawing = page.getByRole("img", { name: said });
      await drawing.waitFor();
      // The second way is a broken line where it is not always gone.
      const lines = await drawing
        .locator("path")
        .evaluateAll((paths) => paths.map((path) => path.getAttribute("stroke-dasharray")));
      expect(lines).toEqual(ways);
      expect(await axeFaults(page)).toEqual([]);
    }
  });

  it.each([
    ["/connect?kind=Webhooks", "Send test", "POST /v1/destinations/test"],
    [`/destinations/${DESTINATION.id}`, "Send a test by the saved settings", "POST /v1/destinations/{id}/test"],
  ])("are tried with an event of the type that is chosen: %s", async (path, words, operation) => {
    const page = await visit(path);
    const send = page.getByRole("button", { name: words });
    await send.click();
    await expect.poll(() => sentTypes(operation)).toEqual(["track"]);
    await page.getByLabel("A made-up event of the type").selectOption("identify");
    await send.click();
    await expect.poll(() => sentTypes(operation)).toEqual(["track", "identify"]);
  });
});
