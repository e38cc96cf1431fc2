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

/** `hasMore`: one row more than before. */
function latest(complete: boolean, hasMore: boolean, rest: object = {}): FakeAnswers {
  const { data, ...other } = exampleOf(LATEST).body as { readonly data: readonly object[] };
  const more = hasMore ? [{ ...data[0], messageId: "came-since" }] : [];
  return { [LATEST]: { body: { ...other, ...rest, data: [...more, ...data], complete } } };
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

  it("a list tells what came by its end, without being read again by hand", async () => {
    const page = await visit("/deliveries", readTo({ left: 300_000, of: 1_200_000 }));
    await page.getByText("75 % of 1,200,000 records").waitFor();
    const rows = await page.getByRole("row").count();
    control.answer({ ...readTo(null), ...latest(true, true) });
    await page.getByRole("button", { name: "1 new" }).waitFor();
    await page.getByText("control is still reading").waitFor({ state: "detached" });
    expect(await page.getByRole("row").count()).toBe(rows);
    await page.getByRole("button", { name: "1 new" }).click();
    await page.getByRole("row").nth(rows).waitFor();
  });

  it("a longer list asks whether it is to be read again, since what came may stand anywhere in it", async () => {
    const more = { nextCursor: "c" };
    const page = await visit("/deliveries", {
      ...readTo({ left: 300_000, of: 1_200_000 }),
      ...latest(false, false, more),
    });
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "More" }).waitFor();
    control.answer({ ...readTo(null), ...latest(true, false, more) });
    await page.getByRole("button", { name: "Read again" }).click();
    await page.getByRole("button", { name: "Read again" }).waitFor({ state: "detached" });
  });

  it.each([
    ["/access", "GET /v1/tokens"],
    ["/dead-letters", "GET /v1/dead-letters/groups"],
  ] as const)("%s is read again at its end", async (path, operation) => {
    const part = { [operation]: { body: { ...Object(exampleOf(operation).body), complete: false } } };
    const page = await visit(path, { ...readTo({ left: 300_000, of: 1_200_000 }), ...part });
    await page.getByText("75 % of 1,200,000 records").first().waitFor();
    control.answer(readTo(null));
    await page.getByText("control is still reading").first().waitFor({ state: "detached" });
  });
});
