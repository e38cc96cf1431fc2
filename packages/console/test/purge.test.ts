/** Dead letters that are taken away for good: PD1 and PD2 of purge-dialog.tsx. */
import { describe, expect, it } from "vitest";
import { exampleOf, problem } from "./fake-control.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { expectSound, focusOf } from "./story.ts";

const PURGE = "POST /v1/dead-letters/purge";
const DEAD_LETTERS = "/dead-letters/letters?destinationId=dst_1&reason=window_expired";
const planned = (matched: number) => ({
  [PURGE]: {
    status: 202,
    body: { ...(exampleOf(PURGE).body as object), id: null, plan: matched === 0 ? null : "rpl_7", matched },
  },
});
const bodies = () => control.requests.filter(({ operation }) => operation === PURGE).map(({ body }) => body);

startConsole();

describe("a purge", () => {
  it("PD1: counts first, is of the plan that was counted, and says how long the bytes stay", async () => {
    const page = await visit(DEAD_LETTERS, planned(7));
    const opener = page.getByRole("button", { name: "Purge", exact: true });
    await opener.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Purge for good?" });
    await dialog.getByText("7 dead letters fit").waitFor();
    expect(bodies()).toEqual([{ destinationId: "dst_1", reason: "window_expired", dryRun: true }]);
    await expectSound(page, "all");
    control.answer({
      [PURGE]: { status: 202, body: { ...planned(7)[PURGE]?.body, bytesKeptUntil: "2029-12-06T10:00:00.000Z" } },
    });
    await dialog.getByRole("button", { name: "Purge 7" }).click();
    await dialog.getByText("Their bytes stay in the topic until").waitFor();
    expect(bodies()).toEqual([{ plan: "rpl_7" }]);
    await dialog.getByRole("button", { name: "Done" }).click();
    await focusOf(opener);
  });

  it("PD2: above 10,000 has their number typed first", async () => {
    const page = await visit(DEAD_LETTERS, planned(10_001));
    await page.getByRole("button", { name: "Purge", exact: true }).click();
    const purge = page.getByRole("button", { name: "Purge 10,001" });
    await purge.waitFor();
    expect(await purge.getAttribute("aria-disabled")).toBe("true");
    await page.getByLabel("Type 10001, their number").fill("10001");
    await purge.click();
    await poll(() => bodies().at(-1)).toEqual({ plan: "rpl_7" });
  });

  it("says why it cannot be: nothing is named, nothing fits, or it was refused", async () => {
    const page = await visit("/dead-letters/letters", planned(0));
    await page.getByRole("button", { name: "Purge", exact: true }).focus();
    await page.getByRole("tooltip", { name: "choose which first: add a filter" }).waitFor();
    await page.goto(control.url + DEAD_LETTERS);
    await page.getByRole("button", { name: "Purge", exact: true }).click();
    const none = page.getByRole("button", { name: "Purge 0" });
    await none.waitFor();
    expect(await none.getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.press("Escape");
    control.answer(planned(7));
    await page.getByRole("button", { name: "Purge", exact: true }).click();
    await page.getByRole("button", { name: "Purge 7" }).waitFor();
    control.answer({ [PURGE]: problem(409, "the plan is older than an hour: make another") });
    await page.getByRole("button", { name: "Purge 7" }).click();
    await page.getByText("the plan is older than an hour").waitFor();
  });
});
