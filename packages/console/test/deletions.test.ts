/** Deletions as the page asks for them, and suppressions as it ends them: the rules of ask-dialog.tsx. */
import { describe, expect, it } from "vitest";
import { receiversOf, tooManyOf, usersOf } from "../src/pages/deletions/deletion-draft.ts";
import { exampleOf, type FakeAnswers, problem } from "./fake-control.ts";
import { control, startConsole, visit } from "./started-console.ts";
import { axeFaults } from "./story.ts";

const FRESH = { nextCursor: null, asOf: "2026-11-22T14:12:10.000Z", complete: true };
const source = (id: string, name: string, enabled = true) =>
  Object.assign({}, exampleOf("GET /v1/sources/{id}").body, { id, name, enabled });
const destination = (id: string, sourceIds: readonly string[], enabled = true) =>
  Object.assign({}, exampleOf("GET /v1/destinations/{id}").body, { id, sourceIds, enabled });

const CONFIGURATION: FakeAnswers = {
  "GET /v1/sources": {
    body: {
      data: [source("src_web", "Web shop"), source("src_app", "App"), source("src_old", "Old", false)],
      ...FRESH,
    },
  },
  "GET /v1/destinations": {
    body: { data: [destination("dst_1", ["src_web", "src_app"]), destination("dst_2", ["src_web"], false)], ...FRESH },
  },
};

const sent = (operation: string) => control.requests.filter((each) => each.operation === operation);

async function asking(answers: FakeAnswers) {
  const page = await visit("/deletions", { ...CONFIGURATION, ...answers });
  await page.getByText("ticket-4711").first().waitFor();
  await page.getByRole("button", { name: "Ask for a deletion" }).click();
  return { page, dialog: page.getByRole("dialog") };
}

startConsole();

describe("user ids, one a line", () => {
  it("are counted once each, whatever ends a line, and empty lines name nobody", () => {
    expect(usersOf("user-7\r\n\nuser-8\nuser-7\n \n")).toEqual({
      userIds: ["user-7", "user-8"],
      repeats: 1,
      error: null,
    });
  });

  it("are refused by the line that is wrong", () => {
    expect(usersOf("user-7\n\nuser-8 ").error).toBe("Line 3 begins or ends with a space: take it away.");
    expect(usersOf(`user-7\n${"x".repeat(8193)}`).error).toContain("Line 2 is too long");
    expect(usersOf("x".repeat(8192)).error).toBeNull();
  });

  it("are refused beyond what control takes in one request", () => {
    const many = Array.from({ length: 5001 }, (_, at) => `user-${at}`);
    expect(usersOf(many.slice(1).join("\n")).error).toBeNull();
    expect(usersOf(`\n${many.join("\n")}`).error).toBe(
      "5,001 users are named, 5,000 at the most in one request: from line 5,002 on they need another.",
    );
    expect(usersOf(many.map((each) => each.padEnd(81, "ü")).join("\n")).error).not.toBeNull();
    const wide = many.slice(0, 100).map((each) => each.padEnd(4008, "ü"));
    expect(usersOf(wide.join("\n")).error).toContain("bytes, 800,000 at the most");
    expect([tooManyOf(5000, 10), tooManyOf(5000, 11)]).toEqual([null, expect.stringContaining("of 11 sources")]);
  });

  it("are told of to each destination that is on, once for each of its sources", () => {
    const destinations = [destination("dst_1", ["src_web", "src_app"]), destination("dst_2", ["src_web"], false)];
    expect(receiversOf(["src_web", "src_app", "src_old"], destinations)).toBe(2);
  });
});

describe("a deletion", () => {
  it("DA1, DA2: is asked for after its counts were confirmed, again under the same id, and then shown", async () => {
    const { page, dialog } = await asking({ "POST /v1/deletions": problem(503, "the brokers do not answer") });
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByLabel("User ids, one a line").fill("user-7\nuser-8\nuser-7\nuser-9 ");
    await dialog.getByText("3 users of 5,000 at the most; 1 line named before, counted once").waitFor();
    await dialog.getByText("Line 4 begins or ends with a space").waitFor();
    await dialog.getByRole("button", { name: "Review" }).press("Enter");
    await dialog.getByLabel("User ids, one a line").fill("user-7\nuser-8");
    await dialog.getByText("Suppress these users").click();
    await dialog.getByRole("button", { name: "Review" }).click();
    await dialog.getByText("Of 2 sources. 4 notifications: one of each user").waitFor();
    await dialog.getByText("nothing of theirs from these sources is delivered from then on").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(sent("POST /v1/deletions")).toEqual([]);
    await dialog.getByRole("button", { name: "Ask for 2 deletions" }).click();
    await dialog.getByText("the brokers do not answer").waitFor();
    const [first] = sent("POST /v1/deletions");
    control.answer(CONFIGURATION);
    await dialog.getByRole("button", { name: "Ask for 2 deletions" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(first?.body).toEqual({
      id: expect.stringMatching(/^del_[0-9a-f]{20}$/),
      userIds: ["user-7", "user-8"],
      suppress: true,
    });
    expect(sent("POST /v1/deletions").map(({ body }) => body)).toEqual([first?.body]);
    await page.waitForURL(/\/deletions\/del_/);
    expect(first?.body).toMatchObject({ id: page.url().split("/").at(-1) });
  });

  it("is of the sources that are named, and says that nobody is told where none has a destination", async () => {
    const { page, dialog } = await asking({});
    await dialog.getByLabel("User ids, one a line").fill("user-7");
    await dialog.getByRole("combobox", { name: "Sources" }).selectOption("named");
    await dialog.getByRole("button", { name: "Review" }).press("Enter");
    await dialog.getByText("Old (off)").click();
    await dialog.getByRole("button", { name: "Review" }).click();
    await dialog.getByText("Nobody is told: none of them has a destination that is on.").waitFor();
    await dialog.getByRole("button", { name: "Back" }).click();
    expect(await dialog.getByLabel("User ids, one a line").inputValue()).toBe("user-7");
    await dialog.getByText("Web shop").click();
    await dialog.getByRole("button", { name: "Review" }).click();
    await dialog.getByText("Of 2 sources. 1 notification: ").waitFor();
    await dialog.getByRole("button", { name: "Ask for 1 deletion" }).click();
    await page.waitForURL(/\/deletions\/del_/);
    expect(sent("POST /v1/deletions").map(({ body }) => body)).toEqual([
      { id: expect.any(String), userIds: ["user-7"], suppress: false, sourceIds: ["src_old", "src_web"] },
    ]);
  });

  it("cannot be asked for by who may only read, nor a suppression ended, and the buttons say so", async () => {
    const body = { name: "dana", tokenId: "tok_1", scopes: ["read"], expiresAt: null };
    const page = await visit("/deletions", {
      ...CONFIGURATION,
      "GET /v1/session": { body },
      "GET /v1/suppressions": { body: { userId: "user-7", sourceIds: ["src_web", "src_app"] } },
    });
    const button = page.getByRole("button", { name: "Ask for a deletion" });
    await button.focus();
    await page.getByRole("tooltip", { name: "your token has not the scope write" }).waitFor();
    await button.press("Enter");
    await page.getByLabel("User id", { exact: true }).fill("user-7");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "End it for App" }).press("Enter");
    await page.getByRole("button", { name: "End it for all" }).press("Enter");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it("is told by source, from its notifications", async () => {
    const of = (sourceId: string, destinationId: string, state: string) => ({
      ...{ userId: "user-7", sourceId, destinationId, messageId: `del_1:${sourceId}`, state, attempts: 1 },
      ...{ firstAttemptAt: null, lastAttemptAt: null, deliveredAt: null, deadAt: null },
    });
    const data = [
      ...[of("src_web", "dst_1", "delivered"), of("src_web", "dst_2", "delivered")],
      ...[of("src_web", "dst_3", "dead"), of("src_app", "dst_1", "retrying")],
    ];
    const states = { sent: 0, retrying: 1, delivered: 2, dead: 1 };
    const until = { suppress: true, suppressionEndsAt: "2027-11-22T14:12:10.000Z" };
    const suppressing = { sourceIds: ["src_web", "src_app", "src_old"], notifications: 4, states, ...until };
    const page = await visit("/deletions/del_1", {
      ...CONFIGURATION,
      "GET /v1/deletions/{id}": { body: Object.assign({}, exampleOf("GET /v1/deletions/{id}").body, suppressing) },
      "GET /v1/deletions/{id}/notifications": { body: { data, ...FRESH } },
    });
    await page.getByRole("rowheader", { name: "Web shop" }).waitFor();
    const rows = await page.getByRole("table").getByRole("row").allInnerTexts();
    expect(rows.slice(1).map((row) => row.split(/\s*\t\s*/))).toEqual([
      ["Web shop", "0", "0", "2", "1"],
      ["App", "0", "1", "0", "0"],
      ["Old", "nobody is told: it had no destination that was on"],
    ]);
    await page.getByText(/The users were suppressed, until .*, or until it is ended by hand/).waitFor();
  });

  it.each([
    ["sent, 2 of 4 not delivered yet", "▲", { sent: 1, retrying: 1, delivered: 1, dead: 1 }],
    ["1 of 4 failed", "■", { sent: 0, retrying: 0, delivered: 3, dead: 1 }],
    ["all delivered", "●", { sent: 0, retrying: 0, delivered: 4, dead: 0 }],
  ])("is %s once it was sent, and not well before", async (words, shape, states) => {
    const body = Object.assign({}, exampleOf("GET /v1/deletions/{id}").body, { id: "del_1", notifications: 4, states });
    const page = await visit("/deletions/del_1", { "GET /v1/deletions/{id}": { body } });
    await page.getByText(words).waitFor();
    expect(await page.getByText(words).innerText()).toBe(`${shape} ${words}`);
    control.answer({ "GET /v1/deletions": { body: { data: [body], ...FRESH } }, "GET /v1/deletions/{id}": { body } });
    await page.getByRole("link", { name: "All deletions" }).click();
    await page.getByRole("grid").getByText(`${shape} sent`).waitFor();
  });

  it("with more than a thousand notifications is counted on its own page alone, and not by source", async () => {
    const many = Object.assign({}, exampleOf("GET /v1/deletions/{id}").body, { id: "del_1", notifications: 1001 });
    const answers = {
      "GET /v1/deletions": { body: { data: [many], ...FRESH } },
      "GET /v1/deletions/{id}": { body: many },
    };
    const page = await visit("/deletions", answers);
    await page.getByText("1,001", { exact: true }).waitFor();
    expect(sent("GET /v1/deletions/{id}")).toEqual([]);
    await page.getByText("del_1").click();
    await page.getByText("More than 1,000 notifications are not told by source here").waitFor();
    expect(sent("GET /v1/deletions/{id}").length).toBeGreaterThan(0);
    expect(await page.getByRole("table").count()).toBe(0);
  });
});

describe("a suppression", () => {
  it("is looked up by the user, and ended for one source after its consequence was said", async () => {
    let sourceIds = ["src_web", "src_app"];
    const page = await visit("/deletions", {
      ...CONFIGURATION,
      "GET /v1/suppressions": () => ({ body: { userId: "user 7&8", sourceIds } }),
      "DELETE /v1/suppressions": () => {
        sourceIds = ["src_web"];
        return {};
      },
    });
    await page.getByLabel("User id", { exact: true }).fill("user 7&8");
    await page.keyboard.press("Enter");
    await page.getByText("Suppressed, of 2 sources").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "End it for App" }).click();
    const question = page.getByRole("dialog", { name: "End the suppression?" });
    await question.getByText("What was dropped meanwhile is not").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await question.getByRole("button", { name: "End it" }).click();
    await question.waitFor({ state: "detached" });
    await page.getByText("Suppressed, of 1 source:").waitFor();
    expect(sent("DELETE /v1/suppressions").map(({ query }) => Object.fromEntries(query))).toEqual([
      { userId: "user 7&8", sourceId: "src_app" },
    ]);
  });
});
