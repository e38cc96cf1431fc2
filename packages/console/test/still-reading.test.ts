/** What pages say while control reads its topics for the first time since its start. */
import { describe, expect, it } from "vitest";
import { found } from "./browser.ts";
import { exampleOf, type FakeAnswers } from "./fake-control.ts";
import { expectSound } from "./pages/page-states.ts";
import { control, startConsole, visit } from "./started-console.ts";

const LATEST = "GET /v1/deliveries/latest";
const STATUS = "GET /v1/status";
const status = exampleOf(STATUS).body as { readonly readModel: object };

function readTo(reading: object | null): FakeAnswers {
  return {
    [LATEST]: { body: Object.assign({}, exampleOf(LATEST).body, { complete: false }) },
    [STATUS]: { body: { ...status, readModel: { ...status.readModel, reading } } },
  };
}

startConsole();

describe.skipIf("missing" in found)("while control reads for the first time", () => {
  it.each(["/deliveries", "/overview"])("%s says how far it is, until it has read all", async (path) => {
    const page = await visit(path, readTo({ left: 456_000, of: 1_200_000 }));
    const bar = page.getByRole("progressbar", { name: "what control has read" });
    await page.getByText("62 % of 1,200,000 records: entries may be missing, deliveries go on").waitFor();
    expect(await bar.getAttribute("aria-valuenow")).toBe("744000");
    await expectSound(page, "all");
    control.answer(readTo({ left: 300_000, of: 1_200_000 }));
    await page.getByText("75 % of 1,200,000 records").waitFor();
    control.answer(readTo(null));
    await bar.waitFor({ state: "detached" });
  });
});
