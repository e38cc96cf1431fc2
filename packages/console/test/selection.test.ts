/** Rows that are selected, with one action for all of them; and what a filter exports. */
import { describe, expect, it } from "vitest";
import { exampleOf, problem } from "./fake-control.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults, focusOf, rowsOf } from "./story.ts";

const LATEST = "GET /v1/deliveries/latest";
const RESEND = "POST /v1/deliveries/resend";
const DEAD_LETTERS = "GET /v1/dead-letters";

startConsole();

/** Three rows, each with other values. */
function three(operation: string, valuesOf: (n: number) => object) {
  const example = exampleOf(operation).body as { readonly data: readonly object[] };
  return {
    [operation]: { body: { ...example, data: [0, 1, 2].map((n) => ({ ...example.data[0], ...valuesOf(n) })) } },
  };
}

const bodies = (operation: string) =>
  control.requests.filter((each) => each.operation === operation).map(({ body }) => body);

describe("selected deliveries", () => {
  it("are sent again together, by keys alone, and the refused ones are counted", async () => {
    const page = await visit("/deliveries", {
      ...three(LATEST, (n) => ({ messageId: `message-${n}` })),
      [RESEND]: ({ body }) =>
        (body as { readonly messageId: string }).messageId === "message-2"
          ? problem(409, "its record is past its retention")
          : { status: 202, body: { replayId: "rsd_1", copyWaits: false } },
    });
    await page.getByText("message-2").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Space");
    await page.keyboard.press("End");
    await page.keyboard.press("Space");
    await focusOf(rowsOf(page).nth(2));
    await page.getByText("2 selected").waitFor();
    const chosen = await rowsOf(page).evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-selected")));
    expect(chosen).toEqual(["true", "false", "true"]);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Send again", exact: true }).click();
    await page.getByText("1 sent again, 1 refused: its record is past its retention.").waitFor();
    expect(bodies(RESEND)).toMatchObject([{ messageId: "message-0" }, { messageId: "message-2" }]);
    await page.getByRole("button", { name: "Clear selection" }).click();
    await poll(() => page.getByText("2 selected").count()).toBe(0);
  });
});

describe("selected dead letters", () => {
  it("are counted by the review, and no other is sent", async () => {
    const page = await visit(
      "/dead-letters/letters",
      three(DEAD_LETTERS, (n) => ({ place: `0:${n}` })),
    );
    await page.getByRole("checkbox", { name: "Select all rows shown" }).click();
    await page.getByText("3 selected").waitFor();
    await rowsOf(page).nth(1).getByRole("checkbox").click();
    await page.getByRole("link", { name: "Review and replay selected" }).click();
    await page.getByRole("button", { name: "Remove Selected dead letters: 2" }).waitFor();
    await poll(() => bodies("POST /v1/replays")).toEqual([{ places: ["0:0", "0:2"], dryRun: true }]);
  });

  it("are exported by their filter, as CSV or NDJSON", async () => {
    const page = await visit("/dead-letters/letters?reason=window_expired");
    await page.getByRole("button", { name: "Export" }).click();
    const csv = page.getByRole("link", { name: "CSV", exact: true });
    expect(await csv.getAttribute("href")).toBe("/v1/dead-letters/export?reason=window_expired&format=csv");
    expect(await page.getByRole("link", { name: "NDJSON" }).getAttribute("download")).toBe("dead-letters.ndjson");
    expect(await axeFaults(page)).toEqual([]);
    await page.goto(`${control.url}/dead-letters/letters?open=true`);
    await page.getByRole("button", { name: "Export" }).focus();
    await page.getByRole("tooltip", { name: "an export has dead letters of every state" }).waitFor();
  });
});
