/** The pages' messages while control reads its topics for the first time since its start. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { exampleOf, type FakeAnswers } from "./fake-control.ts";
import { eventPage } from "./pages/event.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { askedFrom, expectSound, rowsOf } from "./story.ts";

const LATEST = "GET /v1/deliveries/latest";
const STATUS = "GET /v1/status";
const status = exampleOf(STATUS).body as { readonly readModel: object };

function readTo(reading: object | null): FakeAnswers {
  return {
    [LATEST]: { body: Object.assign({}, exampleOf(LATEST).body, { complete: false }) },
    [STATUS]: { body: { ...status, readModel: { ...status.readModel, reading } } },
  };
}

const { data: rows, ...page } = exampleOf(LATEST).body as { readonly data: readonly object[] };

/** One row more than before. */
const oneMore: FakeAnswers = {
  [LATEST]: { body: { ...page, data: [{ ...rows[0], messageId: "came-since" }, ...rows], complete: true } },
};

/** Of pages without an end, each with a row of its own. */
function longer(complete: boolean): FakeAnswers {
  return {
    [LATEST]: ({ query }) => {
      const messageId = `message-${query.get("cursor") ?? "first"}`;
      return { body: { ...page, data: [{ ...rows[0], messageId }], nextCursor: "more", complete } };
    },
  };
}

const VERDICT = "GET /v1/events/{messageId}";

/** Of a message id that control has not found. */
function unfound(complete: boolean): FakeAnswers {
  const { body } = exampleOf(VERDICT) as { readonly body: object };
  const sentence = complete ? "It never came." : "Nothing is known of it yet.";
  return { [VERDICT]: { body: { ...body, cause: "unknown", events: [], sentence, complete } } };
}

/** It has been looked at for ten minutes, and no time passes on it by itself from then on. */
async function leaveOpen(page: Page): Promise<void> {
  const asked = askedFrom(page);
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 600_000);
  await poll(() => asked.length).toBeGreaterThan(0);
}

/** How often an operation is asked for while so many seconds pass, one after the other, as they do for a person. */
async function askedWithin(page: Page, operation: string, seconds: number): Promise<number> {
  const count = (): number => control.requests.filter((each) => each.operation === operation).length;
  const before = count();
  for (let second = 0; second < seconds; second += 1) await page.clock.runFor(1000);
  return count() - before;
}

startConsole();

describe("while control reads for the first time", () => {
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
    const rows = await rowsOf(page).count();
    control.answer({ ...readTo(null), ...oneMore });
    await page.getByRole("button", { name: "1 new" }).waitFor();
    await page.getByText("control is still reading").waitFor({ state: "detached" });
    expect(await rowsOf(page).count()).toBe(rows);
    await page.getByRole("button", { name: "1 new" }).click();
    await rowsOf(page).nth(rows).waitFor();
  });

  it("a longer list asks whether it is to be read again, since what came may stand anywhere in it", async () => {
    const page = await visit("/deliveries", { ...readTo({ left: 300_000, of: 1_200_000 }), ...longer(false) });
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "More" }).waitFor();
    control.answer({ ...readTo(null), ...longer(true) });
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

  it("an event that was not found yet is not one that never came, and is found when it was read", async () => {
    const page = await visit(eventPage.path, { ...readTo({ left: 300_000, of: 1_200_000 }), ...unfound(false) });
    const verdict = page.getByRole("region", { name: "Verdict" });
    await verdict.getByText("Not known yet").waitFor();
    await verdict.getByText("Nothing is known of it yet.").waitFor();
    await page.getByText("75 % of 1,200,000 records").waitFor();
    expect(await page.getByText("Search the topics themselves").count()).toBe(0);
    await expectSound(page, "all");
    control.answer({ ...readTo(null), ...eventPage.live });
    await verdict.getByText("Failed").waitFor();
  });

  it("an event that was not found in all of it may be another's id", async () => {
    const page = await visit(eventPage.path, unfound(true));
    await page.getByText("It never came.").waitFor();
    expect(await page.getByText("Not known yet").count()).toBe(0);
    await page.getByText("Search the topics themselves").waitFor();
  });

  it.each([
    ["an event that is not found", eventPage.path, unfound(true), VERDICT, "It never came."],
    ["a list that control never reads to its end", "/deliveries", readTo(null), STATUS, "control is still reading"],
  ])("%s is looked at ever more seldom, and never not at all", async (_, path, answers, operation, shown) => {
    const page = await visit(path, answers, { isOwn: true, prepare: ({ clock }) => clock.install() });
    await page.getByText(shown).first().waitFor();
    await leaveOpen(page);
    // Once a minute by then, and not every five seconds; other parts of the page may ask for the same.
    expect(await askedWithin(page, operation, 50)).toBeLessThan(5);
    expect(await askedWithin(page, operation, 100)).toBeGreaterThan(0);
  });
});
