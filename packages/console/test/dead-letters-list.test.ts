/** The list of dead letters: the state of each, and the open ones alone. */
import { describe, expect, it } from "vitest";
import { exampleOf } from "./fake-control.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults } from "./story.ts";

startConsole();

describe("the list of dead letters", () => {
  it("says which were delivered since or died again", async () => {
    const answer = exampleOf("GET /v1/dead-letters").body as { readonly data: readonly object[] };
    const states = ["open", "deliveredSince", "diedAgain"];
    const data = states.map((state, n) => ({ ...answer.data[0], place: `0:${n}`, messageId: `m-${state}`, state }));
    const page = await visit("/dead-letters/letters", { "GET /v1/dead-letters": { body: { ...answer, data } } });
    const row = (name: string) => page.getByRole("row").filter({ hasText: name });
    await row("m-deliveredSince").getByText("delivered since").waitFor();
    await row("m-diedAgain").getByText("failed again").waitFor();
    expect(await row("m-open").innerText()).not.toMatch(/delivered since|failed again/);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("has the open ones alone where that is chosen, which replays and purges do not go by", async () => {
    const page = await visit("/dead-letters/letters?reason=window_expired");
    await page.getByText("message-1").waitFor();
    const open = page.getByRole("button", { name: "State: open" });
    await open.click();
    await page.waitForURL("**/dead-letters/letters?reason=window_expired&open=true");
    await page.getByText("posthaste dead-letters list --reason window_expired --open", { exact: true }).waitFor();
    const asked = () => control.requests.filter(({ operation }) => operation === "GET /v1/dead-letters");
    await poll(() => asked().at(-1)?.query.get("open")).toBe("true");
    const review = page.getByRole("link", { name: "Review and replay" });
    expect(await review.getAttribute("href")).toBe("/replay?reason=window_expired");
    await page.getByRole("button", { name: "Purge", exact: true }).hover();
    await page
      .getByRole("tooltip", { name: "a purge removes dead letters of every state: remove the filter State" })
      .waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await open.click();
    await page.waitForURL("**/dead-letters/letters?reason=window_expired");
    await page.reload();
    await page.getByText("message-1").waitFor();
    await poll(() => asked().at(-1)?.query.has("open")).toBe(false);
    // The stream has no such filter.
    const streams = control.requests.filter(({ operation }) => operation === "GET /v1/live");
    expect([streams.length > 0, streams.some(({ query }) => query.has("open"))]).toEqual([true, false]);
  });
});
