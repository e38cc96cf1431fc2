/** A source's calls, on its page. */
import { describe, expect, it } from "vitest";
import { exampleOf } from "./fake-control.ts";
import { eventPage } from "./pages/event.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { askedFrom, axeFaults, copiedOn, rowsOf } from "./story.ts";

const CALLS = "GET /v1/sources/{id}/calls";
const PATH = "/sources/src_4k2v8m1n0p3q5r7s";
const example = exampleOf(CALLS).body as { readonly data: readonly object[]; readonly counts: object };
const [taken] = example.data;
const [event] = (exampleOf("GET /v1/events").body as { readonly data: readonly object[] }).data;
const NONE = { accepted: 0, perSecond: 0, lastAcceptedAt: null, rejected: [], refused: [] };

startConsole();

const callsOf = (data: readonly object[], counts: object = {}) => ({
  body: { ...example, data, counts: { ...example.counts, ...counts } },
});

const refused = {
  ...{ ...taken, id: "refused:1", what: "refused", code: "too_large", status: 413, path: "/v1/batch", bytes: 600_000 },
  ...{ type: null, event: null, userKey: null, messageIds: [], advice: "Send batches of 500 KB at the most." },
};

describe("a source's calls", () => {
  it("stand with their verdict, and those that were not taken with what to change", async () => {
    const page = await visit(PATH, {
      [CALLS]: callsOf([{ ...taken, messageIds: ["message-9"] }, refused]),
      "GET /v1/events": {
        body: { data: [{ ...event, ...{ messageId: "message-9", cause: "no_destination", destinationIds: [] } }] },
      },
    });
    const calls = page.getByRole("region", { name: "Calls" });
    await calls.getByText("No destination").waitFor();
    await calls.getByText("refused 413 too_large").waitFor();
    await calls.getByText("Send batches of 500 KB at the most.").waitFor();
    await calls.getByText("/v1/batch 600,000 B").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await calls.getByText("message-9").click();
    await page.waitForURL("**/events/message-9");
  });

  it("are counted, those that were not taken as a share of all", async () => {
    const code = (name: string, count: number) => ({ code: name, count, advice: "" });
    const counts = { accepted: 970, rejected: [code("missing_user", 20)], refused: [code("too_large", 10)] };
    const page = await visit(PATH, { [CALLS]: callsOf([taken ?? {}], counts) });
    await page.getByText("In the last hour 970 accepted, now 1.2/s; not accepted 3 %", { exact: true }).waitFor();
  });

  it("say where each went to, by name, and how many others where they are many", async () => {
    const ids = ["dst_1", "dst_2", "dst_3", "dst_4"];
    const [known] = (exampleOf("GET /v1/destinations").body as { readonly data: readonly object[] }).data;
    const all = ids.map((id) => ({ ...known, id, name: `Shop ${id.at(-1)}` }));
    const found = [
      { ...event, messageId: "message-8", cause: "delivered", destinationIds: ids.slice(0, 2) },
      { ...event, messageId: "message-9", cause: "dead_letter", destinationIds: ids },
    ];
    const page = await visit(PATH, {
      [CALLS]: callsOf(found.map(({ messageId }) => ({ ...taken, id: messageId, messageIds: [messageId] }))),
      "GET /v1/events": { body: { data: found, nextCursor: null } },
      "GET /v1/destinations": { body: { data: all, nextCursor: null, asOf: null, complete: true } },
    });
    const row = (text: string) => rowsOf(page.getByRole("region", { name: "Calls" })).filter({ hasText: text });
    await row("message-8").getByText("→ Shop 1, Shop 2", { exact: true }).waitFor();
    await row("message-9").getByText("→ Shop 1, Shop 2 and 2 more", { exact: true }).waitFor();
  });

  it("wait behind a button as they come, and stand still while they are paused", async () => {
    const page = await visit(PATH, { [CALLS]: callsOf([taken ?? {}]) });
    const calls = page.getByRole("region", { name: "Calls" });
    await calls.getByText("message-7").waitFor();
    control.answer({ [CALLS]: callsOf([{ ...taken, id: "taken:2" }, taken ?? {}]) });
    await calls.getByRole("button", { name: "1 new" }).click();
    await poll(() => calls.getByText("message-7").count()).toBe(2);
    await page.getByRole("button", { name: "live: pause" }).click();
    await page.getByRole("button", { name: /^paused/ }).waitFor();
    control.answer({ [CALLS]: callsOf([{ ...taken, id: "taken:3" }, { ...taken, id: "taken:2" }, taken ?? {}]) });
    await page.getByRole("button", { name: /^paused/ }).click();
    await calls.getByRole("button", { name: "1 new" }).waitFor();
  });

  it("are paused beside them, and can then be gone through, copied, taken in and opened by the keyboard", async () => {
    const call = (id: string) => ({ ...taken, id: `taken:${id}`, messageIds: [`message-${id}`] });
    const page = await visit(PATH, { ...eventPage.live, [CALLS]: callsOf([call("2"), call("1")]) });
    const calls = page.getByRole("region", { name: "Calls" });
    await calls.getByText("message-2").waitFor();
    control.answer({ ...eventPage.live, [CALLS]: callsOf([call("3"), call("2"), call("1")]) });
    await calls.getByRole("button", { name: "1 new" }).waitFor();
    await calls.getByRole("button", { name: "Pause what comes live" }).click();
    await page.getByRole("button", { name: /^paused since/ }).waitFor();
    await rowsOf(calls).first().focus();
    await page.keyboard.press("End");
    await page.keyboard.press("c");
    await poll(() => copiedOn(page)).toBe("message-1");
    await calls.getByRole("button", { name: "1 new" }).click();
    await calls.getByText("message-3").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await rowsOf(calls).first().focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/events/message-2");
    // It stays paused, whatever page is shown, until it goes on.
    await page.getByRole("button", { name: /^paused since/, includeHidden: true }).waitFor();
    await page.goBack();
    await calls.getByRole("button", { name: "Go on with what comes live" }).click();
    await page.getByRole("button", { name: /^live/ }).waitFor();
  });

  it("are not asked for while they are paused", async () => {
    const answers = { [CALLS]: callsOf([taken ?? {}]) };
    const page = await visit(PATH, answers, { isOwn: true, prepare: ({ clock }) => clock.install() });
    await page.getByRole("region", { name: "Calls" }).getByText("message-7").waitFor();
    await page.getByRole("button", { name: "live: pause" }).click();
    await page.getByRole("button", { name: /^paused/ }).waitFor();
    const asked = askedFrom(page);
    await page.clock.runFor(6000);
    expect(asked.filter((each) => each.endsWith("/calls"))).toEqual([]);
  });

  it("are none at first: then the lines to send from stand there, in three languages", async () => {
    const page = await visit(PATH, { [CALLS]: callsOf([], NONE) });
    const calls = page.getByRole("region", { name: "Calls" });
    await calls.getByText("No call came yet.").waitFor();
    await calls.getByText("none refused").waitFor();
    await calls.getByText("curl -u '7zve1z2r23axm4r4ht9h51em3sxdz3sg:' http://127.0.0.1:8080/v1/track").waitFor();
    for (const [name, text] of [
      ["TypeScript", "new Analytics({ writeKey:"],
      ["Go", "client.Endpoint ="],
    ] as const) {
      await calls.getByRole("tab", { name }).click();
      await calls.getByText(text).waitFor();
    }
    await calls.getByRole("button", { name: "Copy the lines for Go" }).click();
    await poll(() => copiedOn(page)).toContain('analytics.New("7zve1z2r23axm4r4ht9h51em3sxdz3sg")');
    expect(await axeFaults(page)).toEqual([]);
  });
});
