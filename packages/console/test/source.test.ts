/** The page of a source: the rules of conflict-dialog.tsx and revised-draft.ts, and its write key. */
import { describe, expect, it } from "vitest";
import { exampleOf, type FakeRequest, problem } from "./fake-control.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults, copiedOn, expectNarrow, focusOf } from "./story.ts";

interface Configured {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
}

const SOURCE = exampleOf("GET /v1/sources/{id}").body as Configured & { readonly writeKey: string };
const sourcePath = `/sources/${SOURCE.id}`;

const sent = (operation: string) => control.requests.filter((each) => each.operation === operation);
const bodies = (operation: string) => sent(operation).map(({ body }) => body);

startConsole();

describe("a source", () => {
  it("is made from the list, and its page with the write key opens", async () => {
    const page = await visit("/sources");
    await page.getByRole("button", { name: "New source" }).click();
    const asking = page.getByRole("dialog", { name: "New source" });
    expect(await axeFaults(page)).toEqual([]);
    await asking.getByLabel("Name").fill(" Shop ");
    await asking.getByLabel("Kind").selectOption("server");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByRole("heading", { name: "Write key" }).waitFor();
    expect(bodies("POST /v1/sources")).toEqual([{ name: "Shop", kind: "server" }]);
  });

  it("TD1: is saved by the revision that the form was opened with", async () => {
    const page = await visit(sourcePath, {
      "PATCH /v1/sources/{id}": { body: { ...SOURCE, name: "Shop", revision: SOURCE.revision + 1 } },
    });
    await page.getByLabel("Name").fill("Shop");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("heading", { name: "Shop", exact: true }).waitFor();
    expect(bodies("PATCH /v1/sources/{id}")).toEqual([
      { revision: SOURCE.revision, name: "Shop", kind: "web", enabled: true },
    ]);
  });

  it("TD3: keeps what was typed over the question to sign in again, though another saved; then the focus", async () => {
    const over = { "PATCH /v1/sources/{id}": problem(401, "the session is over: sign in again") };
    const theirs = { ...SOURCE, name: "Theirs", revision: SOURCE.revision + 1 };
    const saved = { ...SOURCE, name: "Mine", revision: SOURCE.revision + 2 };
    const page = await visit(sourcePath, over);
    await page.getByLabel("Name").fill("Mine");
    await page.keyboard.press("Enter");
    const asking = page.getByRole("dialog", { name: "Your session is over" });
    await asking.getByLabel("Token").fill("pht_right");
    control.answer({ "GET /v1/sources/{id}": { body: theirs }, "PATCH /v1/sources/{id}": { body: saved } });
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Theirs", exact: true }).waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("Mine");
    // Once the dialog is away the focus goes back to where it was.
    await focusOf(page.getByLabel("Name"));
    const save = page.getByRole("button", { name: "Save", exact: true });
    await save.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Mine", exact: true }).waitFor();
    expect(bodies("PATCH /v1/sources/{id}")).toMatchObject([{ revision: SOURCE.revision, name: "Mine" }]);
    await poll(() => save.getAttribute("aria-disabled")).toBe("true");
    expect(await save.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  it("TD3: keeps what is typed while it is being saved", async () => {
    const page = await visit(sourcePath, { "PATCH /v1/sources/{id}": "pending" });
    const name = page.getByLabel("Name");
    await name.fill("Mine");
    await page.keyboard.press("Enter");
    await poll(() => sent("PATCH /v1/sources/{id}").length).toBe(1);
    await name.fill("Mine and more");
    control.answer({
      "PATCH /v1/sources/{id}": { body: { ...SOURCE, name: "Mine", revision: SOURCE.revision + 1 } },
    });
    await page.getByRole("heading", { name: "Mine", exact: true }).waitFor();
    expect(await name.inputValue()).toBe("Mine and more");
    await page.keyboard.press("Enter");
    await poll(() => bodies("PATCH /v1/sources/{id}")).toMatchObject([
      { revision: SOURCE.revision + 1, name: "Mine and more" },
    ]);
  });

  it("TD3: follows what another saved while nothing in it is changed, and is saved over that", async () => {
    const theirs = { ...SOURCE, name: "Theirs", revision: SOURCE.revision + 3 };
    const page = await visit(sourcePath);
    const name = page.getByLabel("Name");
    await poll(() => name.inputValue()).toBe(SOURCE.name);
    const kept = { ...theirs, name: "Mine", revision: theirs.revision + 1 };
    control.answer({
      "GET /v1/sources/{id}": { body: theirs },
      "PATCH /v1/sources/{id}": { body: kept },
      "POST /v1/sources/{id}/write-key": { body: theirs },
    });
    // Its answer is the source as it is by now.
    await page.getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("heading", { name: "Theirs", exact: true }).waitFor();
    await poll(() => name.inputValue()).toBe("Theirs");
    await name.fill("Mine");
    await page.keyboard.press("Enter");
    await poll(() => bodies("PATCH /v1/sources/{id}")).toMatchObject([{ revision: theirs.revision, name: "Mine" }]);
  });

  it("TD3: goes on with theirs where they are taken over, whatever was typed", async () => {
    const theirs = { ...SOURCE, name: "Theirs", revision: SOURCE.revision + 7 };
    const refuse = problem(409, "the revision is no longer the newest");
    const page = await visit(sourcePath, { "PATCH /v1/sources/{id}": refuse });
    await page.getByLabel("Name").fill("Mine");
    control.answer({ "PATCH /v1/sources/{id}": refuse, "GET /v1/sources/{id}": { body: theirs } });
    const save = page.getByRole("button", { name: "Save", exact: true });
    await save.click();
    const conflict = page.getByRole("dialog", { name: "Somebody else saved meanwhile" });
    await conflict.getByRole("button", { name: "Take theirs" }).click();
    await conflict.waitFor({ state: "detached" });
    expect(await page.getByLabel("Name").inputValue()).toBe("Theirs");
    await poll(() => save.getAttribute("aria-disabled")).toBe("true");
    await page.getByLabel("Name").fill("Mine after all");
    await save.click();
    await poll(() => bodies("PATCH /v1/sources/{id}").at(-1)).toMatchObject({
      revision: theirs.revision,
      name: "Mine after all",
    });
  });

  it("TD2: that another saved meanwhile shows theirs and yours, and is saved over theirs when asked", async () => {
    const theirs = { ...SOURCE, name: "Theirs", revision: SOURCE.revision + 7 };
    const refuse = ({ body }: FakeRequest) =>
      (body as Configured).revision === theirs.revision
        ? { body: { ...theirs, name: "Mine", revision: theirs.revision + 1 } }
        : problem(409, "the revision is no longer the newest");
    const page = await visit(sourcePath, { "PATCH /v1/sources/{id}": refuse });
    await page.getByLabel("Name").fill("Mine");
    control.answer({ "PATCH /v1/sources/{id}": refuse, "GET /v1/sources/{id}": { body: theirs } });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const conflict = page.getByRole("dialog", { name: "Somebody else saved meanwhile" });
    await conflict.getByText("theirs: Theirs").waitFor();
    await conflict.getByText("yours: Mine").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await conflict.getByRole("button", { name: "Back to the form" }).click();
    expect(await page.getByLabel("Name").inputValue()).toBe("Mine");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await conflict.getByRole("button", { name: "Keep mine" }).click();
    await page.getByRole("heading", { name: "Mine", exact: true }).waitFor();
    expect(bodies("PATCH /v1/sources/{id}")).toMatchObject([
      ...[SOURCE.revision, SOURCE.revision, theirs.revision].map((revision) => ({ revision, name: "Mine" })),
    ]);
  });

  it("shows its write key short, copies it whole, and shows all of it when asked, until it is hidden", async () => {
    const page = await visit(sourcePath);
    const key = page.getByRole("region", { name: "Write key" });
    await key.getByText("7zve…g", { exact: true }).waitFor();
    expect(await key.getByText(SOURCE.writeKey).count()).toBe(0);
    await key.getByRole("button", { name: "Copy the write key" }).click();
    await poll(() => copiedOn(page)).toBe(SOURCE.writeKey);
    await key.getByRole("button", { name: "Show the write key" }).click();
    await key.getByText(SOURCE.writeKey, { exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await expectNarrow(page);
    await key.getByRole("button", { name: "Hide the write key" }).click();
    await key.getByText("7zve…g", { exact: true }).waitFor();
    expect(await key.getByText(SOURCE.writeKey).count()).toBe(0);
  });

  it("has for who may only read the beginning of its key, and nothing to show or to copy", async () => {
    const page = await visit(sourcePath, {
      "GET /v1/session": { body: { name: "dana", tokenId: "tok_1", scopes: ["read"], expiresAt: null } },
      "GET /v1/sources/{id}": { body: { ...SOURCE, writeKey: "7zve…" } },
    });
    const key = page.getByRole("region", { name: "Write key" });
    await key.getByText("7zve…", { exact: true }).waitFor();
    expect(await key.getByRole("button").allInnerTexts()).toEqual(["Rotate"]);
    expect(await key.getByRole("button").getAttribute("aria-disabled")).toBe("true");
    await page.getByText("Send from your own program").click();
    await page.getByText("Your token may not see the write key").waitFor();
    await page.getByText("curl -u 'WRITE_KEY:'").waitFor();
  });

  it("shows a key short again when it was rotated", async () => {
    const rotated = { ...SOURCE, writeKey: "9abcdefghijklmnopqrstuvwxyz01234", revision: SOURCE.revision + 1 };
    const page = await visit(sourcePath, { "POST /v1/sources/{id}/write-key": { body: rotated } });
    const key = page.getByRole("region", { name: "Write key" });
    await key.getByRole("button", { name: "Show the write key" }).click();
    await key.getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    await key.getByText("9abc…4", { exact: true }).waitFor();
  });

  it("gets a new write key, and says until when the old one is taken", async () => {
    const page = await visit(sourcePath);
    await page.getByRole("button", { name: "Rotate" }).click();
    const asking = page.getByRole("dialog", { name: "Rotate the write key" });
    await asking.getByLabel("The old key is taken on for").selectOption("3600");
    await asking.getByRole("button", { name: "Rotate" }).click();
    await page.getByText("is taken until").waitFor();
    expect(bodies("POST /v1/sources/{id}/write-key")).toEqual([{ oldKeySeconds: 3600 }]);
  });
});
