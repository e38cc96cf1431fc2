/** The overview: its view of a thousand destinations, the dead letters to send again, the tab's title and icon. */
import { describe, expect, it } from "vitest";
import { exampleOf } from "./fake-control.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { focusOf, hasLayout } from "./story.ts";

const STATUS = "GET /v1/status";
const status = exampleOf(STATUS).body as {
  readonly needsSomebody: readonly object[];
  readonly replays: readonly object[];
  readonly answeringAgain: readonly object[];
};
const [needing] = status.needsSomebody;
const [replay] = (exampleOf("GET /v1/replays").body as { readonly data: readonly object[] }).data;
const HEALTHY = { open: 0, failing: 0, healthy: 41, off: 3 };

startConsole();

const well = {
  [STATUS]: {
    body: { ...status, needsSomebody: [], needing: 0, replays: [], answeringAgain: [], destinations: HEALTHY },
  },
};
const listOf = (...data: readonly object[]) => ({ body: { data, nextCursor: null, asOf: null, complete: true } });

describe("the overview", () => {
  it("shows the worst first, with a way to each, and how many more there are", async () => {
    const rows = Array.from({ length: 20 }, (_, n) => ({
      ...needing,
      ...{ destinationId: `dst_${n}`, name: `Shop ${n}`, state: n < 5 ? "open" : "failing", deadLetters: n % 2 },
    }));
    const destinations = { open: 5, failing: 995, healthy: 0, off: 0 };
    const page = await visit("/overview", {
      [STATUS]: { body: { ...status, needsSomebody: rows, needing: 1000, destinations } },
    });
    await page.getByText("1,000 need you").waitFor();
    await page.getByRole("link", { name: "980 more that fail" }).waitFor();
    expect(await page.getByRole("link", { name: /^Review the dead letters of/ }).count()).toBe(10);
    await page.getByRole("link", { name: "Review the dead letters of Shop 1", exact: true }).click();
    await page.waitForURL("**/replay?destinationId=dst_1");
  });

  it("has a way to connect another, and says of one whose URLs answer again how many attempts failed", async () => {
    const failing = { ...needing, state: "failing", reason: null, success: 0.52 };
    const page = await visit("/overview", { [STATUS]: { body: { ...status, needsSomebody: [failing] } } });
    await page.getByText("answers again, 48 % of 5 m failed").waitFor();
    const again = { ...failing, deliversAgainSince: "2026-11-22T10:42:00.000Z" };
    control.answer({ [STATUS]: { body: { ...status, needsSomebody: [again] } } });
    await page.getByText("48 % of 5 m failed, delivers again since").waitFor();
    const silent = { ...failing, success: null };
    control.answer({ [STATUS]: { body: { ...status, needsSomebody: [silent] } } });
    await page.getByText("no answer is known").waitFor();
    await page.getByRole("link", { name: "Connect a webhook" }).click();
    await page.getByRole("heading", { name: "Connect a webhook" }).waitFor();
  });

  it("says of a destination that answers again what can be sent again, as control tells it", async () => {
    const [again] = status.answeringAgain;
    const mended = { ...again, name: "Acme CRM", destinationId: "dst_mended", since: "2026-11-22T10:42:00.000Z" };
    const died = { deadLetters: 12_345, firstAt: "2026-11-22T06:10:00.000Z", lastAt: "2026-11-22T10:10:00.000Z" };
    const answeringAgain = [{ ...mended, ...died }];
    const page = await visit("/overview", {
      ...well,
      [STATUS]: { body: { ...well[STATUS].body, answeringAgain } },
    });
    const banner = page.getByRole("region", { name: "Acme CRM answers again" });
    expect(await banner.innerText()).toMatch(
      /answers 2xx again since .*12,345 dead letters since .* can be sent again/s,
    );
    expect(await banner.getByRole("link", { name: "Review" }).getAttribute("href")).toBe(
      "/replay?destinationId=dst_mended&since=2026-11-22T06%3A10%3A00.000Z&until=2026-11-22T10%3A10%3A00.001Z",
    );
    control.answer(well);
    await page.reload();
    await page.getByText("nothing needs you").waitFor();
    expect(await banner.count()).toBe(0);
  });

  it("follows the stream, and has title and icon carry the worst state", async () => {
    const page = await visit("/overview", well);
    await page.getByText("nothing needs you").waitFor();
    expect(await page.title()).toBe("Overview · Posthaste");
    const icon = () => page.locator("link[rel=icon]").getAttribute("href");
    const healthy = await icon();
    await page.getByRole("button", { name: "live: pause" }).waitFor();
    // One more fails by the attempts of five minutes, and delivers again.
    control.answer({ [STATUS]: { body: { ...status, destinations: { ...HEALTHY, failing: 2 } } } });
    control.tell("health", needing);
    await page.getByText("1 needs you").waitFor();
    await page.getByRole("link", { name: "1 delivers again" }).waitFor();
    await poll(() => page.title()).toBe("▲ Overview · Posthaste");
    await poll(icon).toContain("icon-failing");
    control.answer({ [STATUS]: { body: { ...status, destinations: { ...HEALTHY, open: 1, failing: 1 } } } });
    control.tell("health", needing);
    await poll(() => page.title()).toBe("■ Overview · Posthaste");
    await poll(icon).toContain("icon-open");
    expect(healthy).toContain("icon-");
  });

  it("tells lately made changes, and not who came and went", async () => {
    const [change] = (exampleOf("GET /v1/audit").body as { readonly data: readonly object[] }).data;
    const came = Array.from({ length: 6 }, (_, id) => ({ ...change, id, target: id % 2 ? `ses_${id}` : `link_${id}` }));
    const data = [...came, { ...change, id: 6, operation: "removeSource" }];
    const page = await visit("/overview", { ...well, "GET /v1/audit": listOf(...data) });
    const recently = page.getByRole("region", { name: "Recently" });
    await recently.getByText("removed").waitFor();
    expect(await recently.getByRole("listitem").count()).toBe(1);
  });

  it("tells what follows one another alike once, by names and without ids, and a replay by its end alone", async () => {
    const [change] = (exampleOf("GET /v1/audit").body as { readonly data: readonly object[] }).data;
    const at = (minute: number) => ({ time: `2026-11-22T14:0${minute}:00.000Z`, id: minute });
    const name = { field: "name", from: null, to: "CI" };
    const ofReplay = { operation: "replayDeadLetters", target: "rpl_ended", changes: [] };
    const data = [
      { ...change, ...at(9), actor: "dana", target: "src_gone" },
      { ...change, ...at(8), actor: "dana", target: "src_gone" },
      { ...change, ...at(7), ...ofReplay },
      { ...change, ...at(6), operation: "createToken", target: "tok_1", changes: [name] },
      { ...change, ...at(5), operation: "changeDestination", target: "dst_gone", changes: [] },
    ];
    const filter = { destinationId: "dst_gone" };
    const ended = { ...replay, ...{ id: "rpl_ended", state: "done", delivered: 3, failedAgain: 0, filter } };
    const running = { ...replay, id: "rpl_running", endedAt: null, filter };
    const page = await visit("/overview", {
      ...well,
      [STATUS]: { body: { ...status, replays: [{ ...status.replays[0], destinationId: "dst_gone" }] } },
      "GET /v1/audit": listOf(
        { ...change, ...at(9), operation: "pauseReplay", target: "rpl_running", requestId: "req_2" },
        ...data,
      ),
      "GET /v1/replays": listOf({ ...ended, endedAt: "2026-11-22T14:07:30.000Z" }, running),
    });
    const lines = page.getByRole("region", { name: "Recently" }).getByRole("listitem");
    await lines.first().waitFor();
    expect((await lines.allInnerTexts()).map((line) => line.replace(/^.* ago\s*/s, ""))).toEqual([
      "admin paused the replay to a destination",
      "dana changed Shop, 2 times",
      "Replay to a destination done: 3 delivered, 0 failed again",
      "admin made CI",
      "admin changed a destination",
    ]);
    await page.getByText("Replay to a destination running, 7,812 of 12,345 sent").waitFor();
    expect(await page.locator("main").innerText()).not.toMatch(/\b(dst|src|tok|rpl)_/);
  });

  it("says once that something needs somebody: the figures do, and the rows stand right below", async () => {
    const page = await visit("/overview");
    await page.getByText("1 needs you").waitFor();
    const list = page.getByRole("region", { name: "Needs you" });
    await list.getByRole("link", { name: "Open Billing" }).waitFor();
    const heights = list.getByRole("heading").evaluate((head) => head.getBoundingClientRect().height);
    if (hasLayout(page)) expect(await heights).toBe(1);
  });

  it("tells which replays ended, among what was changed", async () => {
    const ended = {
      ...{ ...replay, id: "rpl_ended", state: "done", delivered: 12_340, failedAgain: 5, filter: {} },
      endedAt: "2099-01-01T00:00:00.000Z",
    };
    const page = await visit("/overview", { ...well, "GET /v1/replays": listOf(ended, { ...ended, endedAt: null }) });
    const lines = page.getByRole("region", { name: "Recently" }).getByRole("listitem");
    await lines.first().getByText("Replay done: 12,340 delivered, 5 failed again").waitFor();
    expect(await lines.count()).toBe(2);
    await lines.getByRole("link", { name: "Replay" }).click();
    await page.waitForURL("**/replays/rpl_ended");
  });

  it("tells of a replay as soon as it ended, though many older ones are kept", async () => {
    const running = { ...replay, id: "rpl_now", state: "running", endedAt: null, filter: {} };
    const page = await visit("/overview", { ...well, "GET /v1/audit": listOf(), "GET /v1/replays": listOf(running) });
    await page.getByRole("button", { name: "live: pause" }).waitFor();
    const asked = () => control.requests.filter(({ operation }) => operation === "GET /v1/replays");
    // The beginning of the stream has it asked again.
    await poll(() => asked().length).toBe(2);
    expect(asked().map(({ query }) => query.get("order"))).toEqual(["newest_first", "newest_first"]);
    const ended = { ...running, state: "done", delivered: 280, failedAgain: 0, endedAt: "2026-11-22T14:07:30.000Z" };
    control.answer({ ...well, "GET /v1/audit": listOf(), "GET /v1/replays": listOf(ended) });
    control.tell("replays", ended);
    await page.getByText("Replay done: 280 delivered, 0 failed again").waitFor();
  });

  it("leads from nothing to the first webhook by Enter alone", async () => {
    const destinations = { open: 0, failing: 0, healthy: 0, off: 0 };
    const page = await visit("/overview", {
      [STATUS]: { body: { ...status, needsSomebody: [], needing: 0, destinations } },
    });
    await focusOf(page.getByRole("link", { name: "Connect a webhook" }));
    await page.keyboard.press("Enter");
    await page.waitForURL("**/connect");
  });
});
