/** Tokens as the page makes and revokes them: the rule of new-token-dialog.tsx. */
import { describe, expect, it } from "vitest";
import { exampleOf, problem } from "./fake-control.ts";
import { control, present, startConsole, visit } from "./started-console.ts";
import { axeFaults, copiedOn } from "./story.ts";

const LINK = "http://127.0.0.1:8090/#sign-in=code-0123456789";
const MADE = {
  ...{ id: "tok_1", name: "dana", scopes: ["read", "replay"], createdAt: "2026-11-22T10:12:07.113Z" },
  ...{ createdBy: "admin", token: null, link: LINK },
};

const [listed] = (exampleOf("GET /v1/tokens").body as { readonly data: readonly { readonly id: string }[] }).data;

const sent = (operation: string) => control.requests.filter((each) => each.operation === operation);

startConsole();

describe("a token", () => {
  it("NT1: is made as a link, which is shown once and nowhere kept", async () => {
    const page = await visit("/access", { "POST /v1/tokens": { status: 201, body: MADE } });
    await page.getByText("dashboard").waitFor();
    await page.getByRole("button", { name: "New token" }).click();
    const asking = page.getByRole("dialog", { name: "New token" });
    expect(await axeFaults(page)).toEqual([]);
    await asking.getByLabel("Name").fill("dana");
    await asking.getByText("replay: send failed").click();
    await asking.getByRole("button", { name: "Make and copy the link" }).click();
    const reported = page.getByRole("dialog", { name: "For dana" });
    await reported.getByText(LINK).waitFor();
    await reported.getByText("It is copied.").waitFor();
    expect(await copiedOn(page)).toBe(LINK);
    expect(await axeFaults(page)).toEqual([]);
    expect(sent("POST /v1/tokens").map(({ body }) => body)).toEqual([
      { name: "dana", scopes: ["read", "replay"], link: true },
    ]);
    await reported.getByRole("button", { name: "Done" }).click();
    await reported.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain("code-0123456789");
    expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).not.toContain(
      "code",
    );
  });

  it("is made at the terminal by the line that stands where there is none", async () => {
    const none = { data: [], nextCursor: null, asOf: null, complete: true };
    const page = await visit("/access", { "GET /v1/tokens": { body: none } });
    await page.getByText("posthaste tokens create --name NAME --scopes read --link", { exact: true }).waitFor();
  });

  it("says whether its link was opened, and when its text and a browser used it last", async () => {
    const tokens = exampleOf("GET /v1/tokens").body as { readonly data: readonly object[] };
    const use = { sessionUsedAt: "2026-11-22T10:42:00.000Z", linkUntil: null, usedAt: null };
    const waiting = { sessionUsedAt: null, linkUntil: "2026-11-23T10:42:00.000Z", usedAt: null };
    const data = [
      { ...tokens.data[0], id: "tok_1", name: "dana", ...use },
      { ...tokens.data[0], id: "tok_2", name: "eve", ...waiting },
      {
        ...tokens.data[0],
        id: "tok_3",
        name: "a program",
        usedAt: new Date(present().getTime() - 183_000).toISOString(),
      },
      { ...tokens.data[0], id: "tok_4", name: "idle", usedAt: null },
    ];
    const page = await visit("/access", { "GET /v1/tokens": { body: { ...tokens, data } } });
    const row = (name: string) => page.getByRole("listitem").filter({ hasText: name });
    await row("dana").getByText("signed in, last asked").waitFor();
    await row("eve").getByText("its link was not opened yet, and can be until").waitFor();
    await row("a program")
      .getByText(/; last used .* 3 m \d+ s ago/)
      .waitFor();
    await row("idle").getByText("; never used").waitFor();
    const reported = /signed in,|not opened|last used|never used/;
    expect(await page.getByText(reported).count()).toBe(4);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("NT1: is made as a text, which is shown once and copied by nobody else", async () => {
    const made = { ...MADE, token: "pht_for_dana", link: null };
    const page = await visit("/access", { "POST /v1/tokens": { status: 201, body: made } });
    await page.getByText("dashboard").waitFor();
    await page.evaluate(() => navigator.clipboard.writeText("what was there"));
    await page.getByRole("button", { name: "New token" }).click();
    const asking = page.getByRole("dialog", { name: "New token" });
    await asking.getByLabel("Name").fill("dana");
    await asking.getByText("As a sign-in link").click();
    await asking.getByRole("button", { name: "Make the token" }).click();
    const reported = page.getByRole("dialog", { name: "For dana" });
    await reported.getByText("pht_for_dana").waitFor();
    expect(await reported.getByText("It is copied.").count()).toBe(0);
    expect(await copiedOn(page)).toBe("what was there");
    expect(sent("POST /v1/tokens").map(({ body }) => body)).toMatchObject([{ link: false }]);
    await page.keyboard.press("Escape");
    await reported.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain("pht_for_dana");
    await page.getByRole("button", { name: "New token" }).click();
    expect(await asking.getByLabel("Name").inputValue()).toBe("");
  });

  it("is made from one's own menu, by a link that leads there, and closing takes that off the address", async () => {
    const page = await visit("/overview");
    await page.getByRole("button", { name: "You: admin" }).click();
    await page.getByRole("menuitem", { name: "Invite somebody" }).click();
    const asking = page.getByRole("dialog", { name: "New token" });
    await asking.waitFor();
    expect(new URL(page.url()).search).toBe("?make=token");
    await page.keyboard.press("Escape");
    await asking.waitFor({ state: "detached" });
    expect(page.url()).toBe(`${control.url}/access`);
  });

  it("says why it is not made, and keeps what was typed", async () => {
    const refused = problem(403, "your token has not the scope write: it can make none that has");
    const page = await visit("/access", { "POST /v1/tokens": refused });
    await page.getByText("dashboard").waitFor();
    await page.getByRole("button", { name: "New token" }).click();
    const asking = page.getByRole("dialog", { name: "New token" });
    await asking.getByLabel("Name").fill("dana");
    await page.keyboard.press("Enter");
    await asking.getByText("it can make none that has").waitFor();
    expect(await asking.getByLabel("Name").inputValue()).toBe("dana");
  });

  it("is revoked after a question, by its id", async () => {
    const page = await visit("/access");
    await page.getByRole("button", { name: "Revoke dashboard" }).click();
    const question = page.getByRole("dialog", { name: "Revoke dashboard?" });
    expect(await axeFaults(page)).toEqual([]);
    await question.getByRole("button", { name: "Revoke" }).click();
    await question.waitFor({ state: "detached" });
    expect(sent("DELETE /v1/tokens/{id}").map(({ path }) => path)).toEqual([`/v1/tokens/${listed?.id}`]);
  });

  it("cannot be made by who may only read, and the button says so", async () => {
    const body = { name: "dana", tokenId: "tok_1", scopes: ["read"], expiresAt: null };
    const page = await visit("/access", { "GET /v1/session": { body } });
    const button = page.getByRole("button", { name: "New token" });
    await button.focus();
    await page.getByRole("tooltip", { name: "your token has not the scope write" }).waitFor();
    await button.press("Enter");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByRole("button", { name: "You: dana" }).click();
    await page.getByRole("menuitem", { name: "Use it in the terminal" }).waitFor();
    expect(await page.getByRole("menuitem", { name: "Invite somebody" }).count()).toBe(0);
    await page.goto(`${control.url}/access?make=token`);
    await page.getByText("dashboard").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it("for one's own terminal is made when asked for, and shown once", async () => {
    const page = await visit("/access", {
      "POST /v1/session/token": { status: 201, body: { ...MADE, token: "pht_own" } },
    });
    await page.getByRole("button", { name: "Use it in the terminal" }).click();
    expect(sent("POST /v1/session/token")).toEqual([]);
    await page.getByRole("button", { name: "Make the token" }).click();
    await page.getByText("export POSTHASTE_ADMIN_TOKEN=pht_own").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.content()).not.toContain("pht_own");
  });
});
