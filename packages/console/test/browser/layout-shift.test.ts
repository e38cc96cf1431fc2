/** The parts of a page stay where they are while the rest of it comes, however late that is. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { exampleOf, type FakeAnswers, type FakeRequest } from "../fake-control.ts";
import { activityPage } from "../pages/access.ts";
import { audiencePage, audiencesPage } from "../pages/audiences.ts";
import { destinationPage, destinationsPage, sourcePage } from "../pages/configuration.ts";
import { testReceiversPage } from "../pages/connect.ts";
import { deletionPage } from "../pages/deletions.ts";
import { deadLettersListPage, deadLettersPage, deliveriesPage } from "../pages/deliveries.ts";
import { eventPage } from "../pages/event.ts";
import { overviewPage } from "../pages/overview.ts";
import { control, inShort, startConsole, visit } from "./started-browser.ts";

const NAMES = ["GET /v1/destinations", "GET /v1/sources"];
const ATTEMPTS_OF = `${deliveriesPage.path}?destinationId=dst_4k2v8m1n0p3q5r7s`;
/** Where the names of all examples are found. */
const EXAMPLES = await readFile(new URL("../../openapi.json", import.meta.url), "utf8");
/** Letters of another font are another matter: both are there before anything is measured. */
const FACES = ["Inter Variable", "JetBrains Mono Variable"];
const LETTERS = `Promise.all(${JSON.stringify(FACES)}.map((name) => document.fonts.load("1em " + name)))`;
const DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";
/**
 * By the browser's own measure, with the texts that moved; a move that a person caused is none. A shift that was
 * measured and not told of yet is taken too: it would be told of later, with later shifts.
 */
const WATCH = `
  const shifts = [];
  const keep = (entries) => {
    for (const { value, hadRecentInput, sources } of entries) {
      if (!hadRecentInput) shifts.push([value, ...sources.map(({ node }) => node?.textContent)]);
    }
  };
  const observer = new PerformanceObserver((list) => keep(list.getEntries()));
  observer.observe({ type: "layout-shift", buffered: true });
  globalThis.takeShifts = () => {
    keep(observer.takeRecords());
    return shifts.splice(0);
  };
`;

startConsole();

const [receiver] = (exampleOf("GET /v1/test-receivers").body as { readonly data: readonly object[] }).data;
/** Two, one of them of a destination. */
const RECEIVERS: FakeAnswers = {
  "GET /v1/test-receivers": {
    body: { data: [receiver, { ...receiver, id: "rcv_2", destinationId: "dst_4k2v8m1n0p3q5r7s" }] },
  },
};

/** Whatever the examples name has a name that wraps where its id did not. */
const LONG_NAMES: FakeAnswers = Object.fromEntries(
  [
    ["GET /v1/destinations", /dst_\w+/g],
    ["GET /v1/sources", /src_\w+/g],
  ].map(([operation, ids]) => {
    const example = exampleOf(String(operation)).body as { readonly data: readonly object[] };
    const name = "The one for whatever is bought in the shop, in the town and in the country";
    const data = [...new Set(EXAMPLES.match(ids ?? ""))].map((id) => ({ ...example.data[0], id, name }));
    // A list asks for less at a time.
    const answer = ({ query }: FakeRequest) => ({
      body: query.get("limit") === "200" ? { ...example, data } : example,
    });
    return [operation, answer];
  }),
);

const pendingOf = (operations: readonly string[]): FakeAnswers =>
  Object.fromEntries(operations.map((operation) => [operation, "pending"]));

interface Late {
  readonly path: string;
  readonly live: FakeAnswers;
  /** Operations that are answered last. */
  readonly late: readonly string[];
  /** The text that stands there before. */
  readonly stands: string;
  readonly width?: number;
}

/** A page is the file's: the remains of every test in it would watch beside this one's. */
async function watch(page: Page): Promise<void> {
  const watching = await page.addInitScript(WATCH);
  onTestFinished(() => watching.dispose());
}

async function expectStill({ path, live, late, stands, width = 1280 }: Late): Promise<void> {
  const answers = { ...live, ...LONG_NAMES };
  const page = await visit(path, { ...answers, ...pendingOf(late) }, { width, prepare: watch });
  const shown = page.getByText(stands).or(page.getByRole("region", { name: stands }));
  await shown.first().waitFor({ state: "attached" });
  const isAsked = (operation: string) => control.requests.some((each) => each.operation === operation);
  await expect.poll(() => late.filter((each) => !isAsked(each))).toEqual([]);
  await page.evaluate(LETTERS);
  await page.evaluate(DRAWN);
  await page.evaluate("globalThis.takeShifts()");
  control.answer(answers);
  await page.locator("main [data-state=live]").first().waitFor();
  await page.getByRole("button", { name: /^live/ }).waitFor();
  await expect.poll(() => page.locator("[data-state=loading]").count()).toBe(0);
  await page.evaluate(DRAWN);
  expect(await page.evaluate("globalThis.takeShifts()")).toEqual([]);
}

describe("nothing moves", () => {
  // Of each way in which something comes late one, and of the pages.
  it.each(
    inShort(
      [
        ["names come after an event's verdict", eventPage.path, eventPage.live, NAMES, "Verdict"],
        [
          "names and health come after destinations",
          ...[destinationsPage.path, destinationsPage.live, ["GET /v1/sources", "GET /v1/health/destinations"]],
          "Loading destinations",
        ],
        ["the stream begins", "/sources", {}, ["GET /v1/live"], "Web shop"],
        [
          "a destination's charts come after its health",
          ...[destinationPage.path, destinationPage.live, ["GET /v1/destinations/{id}/series"], "Waiting: 3"],
        ],
        [
          "names come after the deliveries of one destination",
          ATTEMPTS_OF,
          deliveriesPage.live,
          NAMES,
          "Loading deliveries",
        ],
        ["names come after letters", deadLettersListPage.path, deadLettersListPage.live, NAMES, "Loading letters"],
        [
          "names come after groups of letters",
          deadLettersPage.path,
          deadLettersPage.live,
          NAMES,
          "Loading dead letters",
        ],
        [
          "health comes after groups of letters",
          ...[deadLettersPage.path, deadLettersPage.live, ["GET /v1/health/destinations"], "Loading dead letters"],
        ],
        ["names come after changes", activityPage.path, activityPage.live, NAMES, "Loading changes"],
        ["names come after an overview's figures", overviewPage.path, overviewPage.live, NAMES, "1 needs you"],
        ["names come after notifications", deletionPage.path, deletionPage.live, NAMES, "Loading states by source"],
        ["names come after audiences", audiencesPage.path, audiencesPage.live, NAMES, "Loading audiences"],
        ["names come after an audience", audiencePage.path, audiencePage.live, NAMES, "Loading audience"],
        ["names come after test receivers", testReceiversPage.path, RECEIVERS, NAMES, "Loading test receivers"],
        [
          "sources come after what there is to connect",
          "/connect?kind=webhook",
          {},
          ["GET /v1/sources"],
          "Loading catalog",
        ],
        [
          "a destination comes after its id",
          ...[destinationPage.path, destinationPage.live, ["GET /v1/destinations/{id}"], "Loading destination"],
        ],
        [
          "a destination's health comes after its charts",
          ...[destinationPage.path, destinationPage.live, ["GET /v1/health/destinations/{id}"], "Loading health"],
        ],
        [
          "what became of a source's calls comes after them",
          ...[sourcePage.path, sourcePage.live, ["GET /v1/events", ...NAMES], "user user-7"],
        ],
        [
          "a source's calls come last",
          sourcePage.path,
          sourcePage.live,
          ["GET /v1/sources/{id}/calls"],
          "Loading calls",
        ],
        [
          "what an overview says beside its figures comes last",
          ...[overviewPage.path, overviewPage.live, ["GET /v1/dead-letters/groups", "GET /v1/audit"], "1 needs you"],
        ],
      ] as const,
      4,
    ),
  )("where %s", async (_, path, live, late, stands) => {
    await expectStill({ path, live, late, stands });
  });

  it("on a phone, where names come after what was done lately", async () => {
    const { path, live } = overviewPage;
    const status = { ...(exampleOf("GET /v1/status").body as object), replays: [] };
    const answers = { ...live, "GET /v1/status": { body: status } };
    await expectStill({ path, live: answers, late: NAMES, stands: "1 needs you", width: 360 });
  });

  it("while more and more rows come", async () => {
    const latest = "GET /v1/deliveries/latest";
    const { body } = exampleOf(latest) as { readonly body: { readonly data: readonly object[] } };
    const rowsOf = (count: number) => {
      const data = Array.from({ length: count }, (_, row) => ({ ...body.data[0], messageId: `message-${row}` }));
      return { ...deliveriesPage.live, [latest]: { body: { ...body, data: data.reverse() } } };
    };
    const page = await visit(deliveriesPage.path, rowsOf(1), { prepare: watch });
    await page.getByText("message-0", { exact: true }).waitFor();
    await page.getByRole("button", { name: /^live/ }).waitFor();
    await page.evaluate(LETTERS);
    for (const came of [1, 9, 10, 48]) {
      control.answer(rowsOf(1 + came));
      control.tell("deliveries", { ...body.data[0], messageId: `message-${came}` });
      await page.getByRole("button", { name: `${came} new`, exact: true }).waitFor();
      await page.evaluate(DRAWN);
      if (came === 1) await page.evaluate("globalThis.takeShifts()");
    }
    expect(await page.evaluate("globalThis.takeShifts()")).toEqual([]);
  });
});
