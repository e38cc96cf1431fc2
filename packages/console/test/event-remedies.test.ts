/** The remedies on an event's page, and the next steps that it announces. */
import { describe, expect, it } from "vitest";
import type { EventVerdict } from "../src/api/api-types.ts";
import { problem } from "./fake-control.ts";
import { eventPage, GIVEN_UP } from "./pages/event.ts";
import type { Said } from "./pages/tested-page.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults, expectSound } from "./story.ts";

const EVENT = "GET /v1/events/{messageId}";
const MOMENT = "2026-11-22T10:42:04.000Z";
const destinationId = "dst_4k2v8m1n0p3q5r7s";
const sourceId = "src_4k2v8m1n0p3q5r7s";
const [event] = GIVEN_UP.events ?? [];
const [delivery] = event?.destinations ?? [];

const named = (kind: string, ...entries: readonly object[]) => ({
  [`GET /v1/${kind}`]: { body: { data: entries, nextCursor: null, asOf: null, complete: true } },
});
const SETTINGS = { urls: [] };
const BILLING = {
  ...{ id: destinationId, name: "Billing", sourceIds: ["src_other"], revision: 7, enabled: false, settings: SETTINGS },
};
const NAMES = { ...named("destinations", BILLING), ...named("sources", { id: sourceId, name: "Web shop" }) };

/** The event at one destination, or at none. */
function became(cause: EventVerdict["cause"], command: string | null, of: readonly Said<typeof delivery>[]) {
  const [next, last] = ["2026-11-22T10:47:07.000Z", "2026-11-22T14:12:07.000Z"];
  const sentence = `Not delivered to "Billing" yet: next try ${next}, last possible ${last}.`;
  const its = { ...event, cause, sentence, command, destinations: of };
  return { [EVENT]: { body: { ...GIVEN_UP, cause, sentence, command, events: [its] } } };
}

const sent = (operation: string) =>
  control.requests.filter((each) => each.operation === operation).map(({ body }) => body);

startConsole(new Date(MOMENT));

describe("the page of an event", () => {
  const WAITING = { ...delivery, cause: "waiting_retry", due: "2026-11-22T10:47:07.000Z", place: null } as const;

  it("tells the moments of the sentence as all others, what comes next, and sends now what waits", async () => {
    const page = await visit(eventPage.path, { ...NAMES, ...became("waiting_retry", null, [WAITING]) });
    const verdict = page.getByRole("region", { name: "Verdict" });
    await verdict.getByText("next try 11:47:07 in 5 m 3 s, last possible 15:12:07 in 3 h 30 m.").waitFor();
    expect(await verdict.locator("time").first().getAttribute("datetime")).toBe("2026-11-22T10:47:07.000Z");
    await page.getByRole("tab", { name: "Timeline" }).click();
    const [next] = await page.getByRole("listitem").filter({ hasText: "next attempt" }).allInnerTexts();
    expect(next?.replace(/\s+/g, " ")).toBe("11:47:07.000 in 5 m 3 s ◌ next attempt Billing");
    await expectSound(page);
    await page.getByRole("button", { name: "Send now to Billing" }).click();
    await poll(() => sent("POST /v1/deliveries/resend")).toEqual([{ messageId: "message-7", destinationId, sourceId }]);
  });

  it("has a button at each of several that wait, and none for all", async () => {
    const other = { ...WAITING, destinationId: "dst_other" };
    const page = await visit(eventPage.path, { ...NAMES, ...became("waiting_retry", null, [WAITING, other]) });
    await page.getByRole("button", { name: "Send now to dst_other" }).waitFor();
    await page.getByRole("button", { name: "Send now to Billing" }).waitFor();
    const verdict = page.getByRole("region", { name: "Verdict" });
    expect(await verdict.getByRole("button", { name: "Send now" }).count()).toBe(0);
  });

  it("says that a list of destinations goes on, and where it is whole", async () => {
    const { [EVENT]: page } = became("dead_letter", null, [delivery]);
    const visited = await visit(eventPage.path, { ...NAMES, [EVENT]: { body: { ...page.body, nextCursor: "next" } } });
    await visited.getByText("The first 100 destinations that lack it are listed here.").waitFor();
  });

  it("turns on the destination that was off, by the revision that it shows", async () => {
    const off = { ...delivery, cause: "destination_off", place: null } as const;
    const [ONE, CHANGE] = ["GET /v1/destinations/{id}", "PATCH /v1/destinations/{id}"];
    const command = `posthaste destinations update ${destinationId} --enabled`;
    const answers = { ...NAMES, ...became("destination_off", command, [off]), [ONE]: { body: BILLING } };
    const page = await visit(eventPage.path, { ...answers, [CHANGE]: problem(409, "it has another revision by now") });
    const turnOn = page.getByRole("button", { name: "Turn on Billing" });
    await turnOn.click();
    await page.getByText("it has another revision by now").waitFor();
    await expectSound(page);
    control.answer({ ...answers, [CHANGE]: { body: { ...BILLING, enabled: true, revision: 8 } } });
    await turnOn.click();
    await page.getByText("It is on: it gets what is received from a second after that").waitFor();
    expect(sent(CHANGE)).toEqual([{ revision: 7, enabled: true }]);
    await poll(() => turnOn.getAttribute("aria-disabled")).toBe("true");
    expect(await axeFaults(page)).toEqual([]);
  });

  it("turns on the one that was off where another took the event, and says what becomes of the event", async () => {
    const sentence = 'Not sent to "Billing": it was off. It will not be sent unless the source sends it again.';
    const off = { ...delivery, cause: "destination_off", place: null, sentence } as const;
    const took = { ...delivery, destinationId: "dst_other", cause: "delivered", place: null } as const;
    const page = await visit(eventPage.path, {
      ...{ ...NAMES, ...became("delivered", null, [took, off]), "GET /v1/destinations/{id}": { body: BILLING } },
      "PATCH /v1/destinations/{id}": { body: { ...BILLING, enabled: true, revision: 8 } },
    });
    const its = page.getByRole("listitem").filter({ hasText: "It will not be sent unless" });
    await its.getByRole("button", { name: "Turn on Billing" }).click();
    await its.getByText("It is on: it gets what is received from a second after that, and not this event.").waitFor();
    expect(await page.getByRole("button", { name: "Turn on" }).count()).toBe(1);
    await expectSound(page);
  });

  it("adds the source to the destination that is chosen where none was connected", async () => {
    const command = "posthaste destinations create --name NAME";
    const shop = { ...BILLING, id: "dst_shop", name: "Shop" };
    const page = await visit(eventPage.path, {
      ...NAMES,
      ...named("destinations", BILLING, shop),
      ...became("no_destination", command, []),
      "GET /v1/destinations/{id}": { body: shop },
      "PATCH /v1/destinations/{id}": { body: { ...shop, sourceIds: ["src_other", sourceId] } },
    });
    await page.getByLabel("To the destination").selectOption("Shop");
    await expectSound(page);
    await page.getByRole("button", { name: "Add the source Web shop" }).click();
    await page.getByText("It is connected: Shop gets what is received").waitFor();
    expect(sent("PATCH /v1/destinations/{id}")).toEqual([{ revision: 7, sourceIds: ["src_other", sourceId] }]);
  });

  it("leads to a new webhook where there is no destination, and to nothing where one was made since", async () => {
    const none = { ...NAMES, ...named("destinations") };
    const page = await visit(eventPage.path, {
      ...none,
      ...became("no_destination", "posthaste destinations create", []),
    });
    const link = page.getByRole("region", { name: "Verdict" }).getByRole("link");
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe("/connect?kind=Webhooks");
    control.answer({ ...NAMES, ...became("no_destination", null, []) });
    await page.reload();
    await page.getByText("Timeline").waitFor();
    expect(await page.getByRole("button", { name: "Add the source" }).count()).toBe(0);
  });

  it.each([
    ["refused", "What the source sent", `/sources/${sourceId}`],
    ["rejected_in_batch", "What the source sent", `/sources/${sourceId}`],
    ["integration_off", "Change what the source sends", `/sources/${sourceId}`],
    ["suppressed", "Deletions", "/deletions"],
  ] as const)("leads to where more is known of what was %s", async (cause, words, address) => {
    const page = await visit(eventPage.path, { ...NAMES, ...became(cause, null, []) });
    const link = page.getByRole("region", { name: "Verdict" }).getByRole("link", { name: words });
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe(address);
  });

  it.each([
    [false, /^Stopped by the deletion ticket\/1 of /],
    [true, /, which has ended since$/],
  ])("names the deletion request that stopped it, which ended since: %s, and leads to it", async (ended, words) => {
    const deletion = { id: "ticket/1", requestedAt: "2026-11-22T09:00:00.000Z", ended };
    const its = { ...event, cause: "suppressed", command: null, destinations: [], deletion } as const;
    const body = { ...GIVEN_UP, cause: "suppressed", command: null, deletion, events: [its] } as const;
    const page = await visit(eventPage.path, { ...NAMES, [EVENT]: { body } });
    const link = page.getByRole("region", { name: "Verdict" }).getByRole("link", { name: "Deletion ticket/1" });
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe("/deletions/ticket%2F1");
    const fact = page.locator("dl > div").filter({ hasText: "Stopped by" });
    expect((await fact.innerText()).replace(/\s+/g, " ")).toMatch(words);
    expect(await fact.getByRole("link").getAttribute("href")).toBe("/deletions/ticket%2F1");
    await expectSound(page);
  });
});
