/** The page of a message id of which nothing is known: the search of the topics themselves. */
import { describe, expect, it } from "vitest";
import { exampleOf, type FakeAnswers, type FakeRequest, problem } from "./fake-control.ts";
import { eventPage } from "./pages/event.ts";
import { control, startConsole, visit } from "./started-console.ts";
import { expectSound } from "./story.ts";

const SCAN = "GET /v1/events/{messageId}/scan";
const FOUND = {
  ...{ time: "2026-11-22T10:12:07.113Z", topic: "posthaste.events", partition: 3, offset: 1042, what: "event" },
  ...{ sourceId: "src_1", destinationId: null, detail: "track" },
};
const DEAD_LETTER = {
  ...FOUND,
  what: "dead_letter",
  topic: "posthaste.dead-letters",
  destinationId: "dst_1",
  detail: null,
};
const dataOf = (of: string) =>
  (exampleOf(`GET /v1/${of}` as "GET /v1/sources").body as { readonly data: readonly object[] }).data[0];
const progress = (records: number, finds: number) => ({ topic: "posthaste.events", records, of: 12_345, finds });

startConsole();

describe("a message id of which nothing is known", () => {
  it("is searched in the topics themselves, at the terminal by the line that stands there", async () => {
    const events = [
      ["progress", progress(0, 0)],
      ["find", FOUND],
      ["find", DEAD_LETTER],
      ["done", progress(12_345, 2)],
    ] as const;
    const page = await visit(eventPage.path, { ...eventPage.empty, [SCAN]: { events } });
    await page.getByText("posthaste events scan message-7").waitFor();
    expect(await page.getByText("posthaste events why").count()).toBe(0);
    await page.getByRole("button", { name: "Search the topics themselves" }).click();
    await page.getByText("2 found in 12,345 records: that is all there is.").waitFor();
    const finds = (await page.getByRole("listitem").filter({ hasText: "posthaste." }).allInnerTexts()).map((text) =>
      text.replace(/\s+/g, " "),
    );
    expect(finds).toEqual([
      expect.stringMatching(/event track src_1 posthaste\.events 3:1042$/),
      expect.stringMatching(/dead letter src_1 dst_1 posthaste\.dead-letters 3:1042$/),
    ]);
    await expectSound(page);
  });

  it("is shown as what else it is: a user, an event's name, a destination, a source", async () => {
    const LIST = "GET /v1/events";
    const { data, ...page0 } = exampleOf(LIST).body as { readonly data: readonly object[] };
    const listed = (...ofParams: readonly string[]) => ({
      [LIST]: ({ query }: FakeRequest) => ({
        body: { ...page0, data: ofParams.some((each) => query.get(each) === "message-7") ? data : [] },
      }),
    });
    const found = async (answers: FakeAnswers) => {
      const page = await visit(eventPage.path, { ...eventPage.empty, ...answers });
      const finds = page.getByRole("list", { name: "Found otherwise" }).getByRole("link");
      await finds.first().waitFor();
      await expectSound(page);
      return finds.evaluateAll((links) => links.map((link) => [link.textContent, link.getAttribute("href")]));
    };
    expect(await found(listed("userId", "event"))).toEqual([
      ["Events of the user message-7", "/events?userId=message-7"],
      ["Events with the name message-7", "/events?event=message-7"],
    ]);
    const named = (of: string) => ({
      [`GET /v1/${of}`]: { body: { ...page0, data: [{ ...dataOf(of), id: `${of}_1`, name: "message-7" }] } },
    });
    expect(await found({ ...listed(), ...named("destinations"), ...named("sources") })).toEqual([
      ["The destination message-7", "/destinations/destinations_1"],
      ["The source message-7", "/sources/sources_1"],
    ]);
  });

  it("says that nothing was found, and searches again", async () => {
    const page = await visit(eventPage.path, { ...eventPage.empty, [SCAN]: { events: [["done", progress(9, 0)]] } });
    await page.getByRole("button", { name: "Search the topics themselves" }).click();
    await page.getByText("Nothing found in 9 records").waitFor();
    control.answer({ ...eventPage.empty, [SCAN]: { events: [["done", progress(10, 0)]] } });
    await page.getByRole("button", { name: "Search again" }).click();
    await page.getByText("Nothing found in 10 records").waitFor();
  });

  it("says why it is not searched now, and when a search broke off", async () => {
    const busy = problem(429, "the topics are being scanned for another: one at a time");
    const page = await visit(eventPage.path, { ...eventPage.empty, [SCAN]: busy });
    await page.getByRole("button", { name: "Search the topics themselves" }).click();
    await page.getByText("the topics are being scanned for another").waitFor();
    control.answer({ ...eventPage.empty, [SCAN]: { events: [["find", FOUND]] } });
    await page.getByRole("button", { name: "Search again" }).click();
    await page.getByText("the search broke off in the middle").waitFor();
    await page.getByText("posthaste.events 3:1042").waitFor();
  });
});
