/** Removals for good, after a warning of the consequences. */
import { describe, expect, it } from "vitest";
import { exampleOf } from "./fake-control.ts";
import { control, startConsole, visit } from "./started-console.ts";
import { axeFaults } from "./story.ts";

const DESTINATION = exampleOf("GET /v1/destinations/{id}").body as { readonly id: string };
const SOURCE = exampleOf("GET /v1/sources/{id}").body as { readonly id: string };
const READ_ONLY = {
  "GET /v1/session": { body: { name: "dana", tokenId: "tok_1", scopes: ["read"], expiresAt: null } },
};

const removed = (operation: string) =>
  control.requests.filter((each) => each.operation === operation).map(({ path }) => path);

startConsole();

describe("what is removed", () => {
  it.each([
    ["destination", `/destinations/${DESTINATION.id}?tab=settings`, "Billing", "3 deliveries wait for it and become"],
    ["source", `/sources/${SOURCE.id}`, "Web shop", "Billing gets nothing from it any more, and stays."],
  ])("is a %s, after a question", async (what, path, name, says) => {
    const operation = `DELETE /v1/${what}s/{id}`;
    const page = await visit(path);
    await page.getByRole("button", { name: `Remove the ${what}` }).click();
    const question = page.getByRole("dialog", { name: `Remove ${name}?` });
    await question.getByText(says).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await question.getByRole("button", { name: "Keep it" }).click();
    await question.waitFor({ state: "detached" });
    expect(removed(operation)).toEqual([]);
    await page.getByRole("button", { name: `Remove the ${what}` }).click();
    await question.getByRole("button", { name: "Remove" }).click();
    await page.waitForURL(`**/${what}s`);
    expect(removed(operation)).toEqual([`/v1/${path.split("?")[0]?.slice(1)}`]);
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it.each([
    ["destination", `/destinations/${DESTINATION.id}?tab=settings`],
    ["source", `/sources/${SOURCE.id}`],
  ])("is no %s where the token may only read", async (what, path) => {
    const page = await visit(path, READ_ONLY);
    const button = page.getByRole("button", { name: `Remove the ${what}` });
    await button.waitFor();
    expect(await button.getAttribute("aria-disabled")).toBe("true");
  });
});
