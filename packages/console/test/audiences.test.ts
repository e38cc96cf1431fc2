/** Audiences as the page makes, fills and removes them. */
import { describe, expect, it } from "vitest";
import { problem } from "./fake-control.ts";
import { AUDIENCE, audiencePage } from "./pages/audiences.ts";
import { control, poll, present, startConsole, visit } from "./started-console.ts";
import { askedFrom, axeFaults, copiedOn } from "./story.ts";

const { path, live } = audiencePage;
const READ_ONLY = {
  "GET /v1/session": { body: { name: "dana", tokenId: "tok_1", scopes: ["read"], expiresAt: null } },
};

const sent = (operation: string) => control.requests.filter((each) => each.operation === operation);
const bodies = (operation: string) => sent(operation).map(({ body }) => body);

startConsole();

describe("an audience", () => {
  it("is made from the list of a name and a source, and its page with the trait opens", async () => {
    const sources = [
      { id: "src_1", name: "Web shop" },
      { id: "src_2", name: "App" },
    ];
    const page = await visit("/audiences", {
      ...live,
      "GET /v1/sources": { body: { data: sources, nextCursor: null } },
      "POST /v1/audiences": { status: 201, body: AUDIENCE },
    });
    await page.getByRole("button", { name: "New audience" }).click();
    const asking = page.getByRole("dialog", { name: "New audience" });
    expect(await axeFaults(page)).toEqual([]);
    await asking.getByLabel("Name").fill(" VIP customers ");
    await asking.getByLabel("Source").selectOption("App");
    await page.keyboard.press("Tab");
    await asking.getByRole("button", { name: "Make it" }).click();
    await page.waitForURL(`**${path}`);
    await page.getByText("vip_customers").waitFor();
    expect(bodies("POST /v1/audiences")).toEqual([{ name: "VIP customers", sourceId: "src_2" }]);
  });

  it("says at the name that its trait is taken, and elsewhere what is wrong with something else", async () => {
    const taken = '"VIP" would be the trait vip, which the audience "vip" (aud_1) of this source has';
    const page = await visit("/audiences", { "POST /v1/audiences": problem(409, taken) });
    await page.getByRole("button", { name: "New audience" }).click();
    const name = page.getByLabel("Name");
    await name.fill("VIP");
    await name.press("Enter");
    await page.getByText(taken).waitFor();
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    expect(await name.inputValue()).toBe("VIP");
    control.answer({ "POST /v1/audiences": problem(503, "the brokers take nothing") });
    await name.press("Enter");
    await page.getByText("the brokers take nothing").waitFor();
    expect(await name.getAttribute("aria-invalid")).toBeNull();
  });

  it("says in the list that its sync runs, and what waits of all", async () => {
    const syncing = { since: present().toISOString(), received: 5000, compared: 1200 };
    const page = await visit("/audiences", {
      "GET /v1/audiences": { body: { data: [{ ...AUDIENCE, syncing }], nextCursor: null } },
      "GET /v1/audiences/{id}": { body: { ...AUDIENCE, identifiesWaiting: 12_031 } },
    });
    await page.getByText("of all audiences: 12,031").waitFor();
    await page.getByText("1,200 of 5,000 users compared").waitFor();
  });

  it("shows how far the sync is that runs, until it is through", async () => {
    const since = present().toISOString();
    const syncingAs = (received: number | null, compared: number | null) => ({
      "GET /v1/audiences/{id}": { body: { ...AUDIENCE, syncing: { since, received, compared } } },
    });
    const page = await visit(path, syncingAs(5000, 1200));
    await page.getByText("1,200 of 5,000 users compared").waitFor();
    control.answer(syncingAs(5000, 4800));
    await page.getByText("4,800 of 5,000 users compared").waitFor();
    control.answer(syncingAs(null, null));
    await page.getByText("by another process of control").waitFor();
    control.answer(live);
    await page.getByText("syncing now").waitFor({ state: "detached" });
  });

  it.each([path, "/audiences"])("is not asked for while what comes live is paused: %s", async (address) => {
    const page = await visit(address, live, { isOwn: true, prepare: ({ clock }) => clock.install() });
    await page.getByText("Identifies waiting").waitFor();
    await page.getByRole("button", { name: "live: pause" }).click();
    await page.getByRole("button", { name: /^paused/ }).waitFor();
    const asked = askedFrom(page);
    await page.clock.runFor(6000);
    expect(asked.filter((each) => each.startsWith("/v1/audiences"))).toEqual([]);
  });

  it("tells of one user, who is looked up, put into it and taken out", async () => {
    const since = "2026-11-22T10:00:00.000Z";
    const page = await visit(path, {
      ...live,
      "GET /v1/audiences/{id}/members/{userId}": { body: { userId: "a/b", member: true, since } },
    });
    const part = page.getByRole("region", { name: "Membership" });
    await part.getByLabel("User id").fill("a/b");
    await page.keyboard.press("Enter");
    await part.getByText("is in it since").waitFor();
    expect(sent("GET /v1/audiences/{id}/members/{userId}").map((each) => each.path)).toEqual([
      `/v1/audiences/${AUDIENCE.id}/members/a%2Fb`,
    ]);
    const changed = (added: number, removed: number, unchanged: number) =>
      control.answer({ ...live, "PATCH /v1/audiences/{id}/members": { body: { added, removed, unchanged } } });
    changed(1, 0, 0);
    await part.getByRole("button", { name: "Add" }).click();
    await part.getByText("is in it from now on").waitFor();
    expect(bodies("PATCH /v1/audiences/{id}/members")).toEqual([{ add: ["a/b"] }]);
    await poll(() => sent("GET /v1/audiences/{id}").length).toBeGreaterThan(0);
    changed(0, 0, 1);
    await part.getByRole("button", { name: "Remove" }).click();
    await part.getByText("was not in it").waitFor();
    expect(bodies("PATCH /v1/audiences/{id}/members")).toEqual([{ remove: ["a/b"] }]);
    control.answer({ ...live, "PATCH /v1/audiences/{id}/members": problem(409, "a sync has run since 10:00") });
    await part.getByRole("button", { name: "Add" }).click();
    await part.getByText("a sync has run since 10:00").waitFor();
    expect(await part.getByText("was not in it").count()).toBe(0);
  });

  it("is handed over whole by a line that is copied", async () => {
    const page = await visit(path, live);
    await page.getByRole("button", { name: "Copy the curl command" }).click();
    await poll(() => copiedOn(page)).toBe(
      "curl -H \"Authorization: Bearer $POSTHASTE_ADMIN_TOKEN\" -H 'Content-Type: application/x-ndjson' " +
        `-T members.ndjson ${control.url}/v1/audiences/${AUDIENCE.id}/members`,
    );
  });

  it("is removed after what becomes of it was said", async () => {
    const page = await visit(path, live);
    await page.getByRole("button", { name: "Remove the audience" }).click();
    const question = page.getByRole("dialog", { name: "Remove VIP customers?" });
    await question.getByText("of 41,515 users they keep vip_customers: true").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await question.getByRole("button", { name: "Remove" }).click();
    await page.waitForURL("**/audiences");
    expect(sent("DELETE /v1/audiences/{id}").map((each) => each.path)).toEqual([`/v1/audiences/${AUDIENCE.id}`]);
  });

  it("is looked at and not changed by who may only read", async () => {
    const page = await visit(path, { ...live, ...READ_ONLY });
    await page.getByLabel("User id").fill("ada");
    await page.getByRole("button", { name: "Add" }).focus();
    await page.getByRole("tooltip", { name: "your token has not the scope write" }).waitFor();
    await page.getByRole("button", { name: "Add" }).press("Enter");
    await page.getByRole("button", { name: "Remove the audience" }).press("Enter");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByRole("button", { name: "Look up" }).click();
    await page.getByText("was never in it").waitFor();
    expect(sent("PATCH /v1/audiences/{id}/members")).toEqual([]);
    await page.goto(`${control.url}/audiences`);
    await page.getByRole("button", { name: "New audience" }).press("Enter");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});
