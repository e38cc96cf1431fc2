/** Dead letters that are sent again by the pages: the rules of review-page.tsx, and the actions on a replay. */
import { describe, expect, it } from "vitest";
import { exampleOf, type FakeRequest, problem } from "./fake-control.ts";
import { NAMED } from "./pages/replay.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults } from "./story.ts";

const PLAN = exampleOf("POST /v1/replays").body as { readonly plan: string };
const RUNNING = exampleOf("GET /v1/replays/{id}").body as { readonly id: string; readonly matched: number };
const REPLAY = "POST /v1/replays";
const COUNTING = "GET /v1/replays/counting";
const review = "/replay?destinationId=dst_4k2v8m1n0p3q5r7s&reason=window_expired";

const bodies = (operation: string) =>
  control.requests.filter((each) => each.operation === operation).map(({ body }) => body);

/** A control that has counted so many, and starts them. */
const counted = (matched: number, others: object = {}) => ({
  ...NAMED,
  [REPLAY]: ({ body }: FakeRequest) => {
    const isStart = (body as { readonly plan?: string }).plan !== undefined;
    const started = { ...PLAN, matched, id: RUNNING.id, plan: null, counts: [] };
    return { status: 202, body: isStart ? started : { ...PLAN, matched, ...others } };
  },
});

startConsole();

describe("a review", () => {
  it("PV1: starts the plan that it counted, at its rate, and the replay's page opens", async () => {
    const group = {
      destinationId: "dst_4k2v8m1n0p3q5r7s",
      reason: "window_expired",
      error: null,
      type: "track",
      count: 4,
    };
    const page = await visit(review, counted(7, { counts: [group] }));
    await page.getByText("7 dead letters to Billing").waitFor();
    await page.getByRole("row", { name: "none window expired track 4" }).waitFor();
    await page.getByText("and 3 of smaller groups").waitFor();
    await page.getByLabel("Rate").selectOption("10");
    await page.getByText("about 1 s").waitFor();
    await page.getByRole("button", { name: "Replay 7" }).click();
    await page.waitForURL(`**/replays/${RUNNING.id}`);
    expect(bodies(REPLAY)).toEqual([
      { destinationId: "dst_4k2v8m1n0p3q5r7s", reason: "window_expired", dryRun: true },
      { plan: PLAN.plan, ratePerSecond: 10 },
    ]);
  });

  it.each([
    ["the name of their destination", {}, "Type Billing, the destination's name", "Billing"],
    [
      "their number, where they are of several",
      {
        counts: ["a", "b"].map((id) => ({ destinationId: id, reason: "other", error: null, type: "track", count: 5 })),
      },
      "Type 10001, their number",
      "10001",
    ],
  ])("PV2: has %s typed above 10,000", async (_, others, label, typed) => {
    const page = await visit(review, counted(10_001, others));
    const field = page.getByLabel(label);
    await field.fill("Bill");
    await field.press("Enter");
    const button = page.getByRole("button", { name: "Replay 10,001" });
    await button.focus();
    await page.getByRole("tooltip").waitFor();
    expect(bodies(REPLAY)).toHaveLength(1);
    await field.fill(typed);
    await field.press("Enter");
    await page.waitForURL(`**/replays/${RUNNING.id}`);
  });

  it("PV2: has nothing typed up to 10,000, and begins by the keyboard", async () => {
    const page = await visit(review, counted(10_000));
    await page.getByRole("button", { name: "Replay 10,000" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/replays/${RUNNING.id}`);
  });

  it("says of a count that takes long how far it is, and what it waits for", async () => {
    const moments = { since: "2026-11-22T10:00:00.000Z" };
    const own = { purpose: "replay", again: false, filter: { type: "track", ...moments } };
    const reported = { ...own, askedAt: moments.since, looked: 340_000, of: 1_000_000, before: 0 };
    const others = [{ purpose: "purge" }, { again: true }, { filter: moments }].map((each) => ({
      ...reported,
      ...each,
    }));
    const answers = (...data: readonly object[]) => ({ [REPLAY]: "pending", [COUNTING]: { body: { data } } }) as const;
    const page = await visit("/replay?type=track&since=2026-11-22T11:00:00%2B01:00", answers(reported, ...others));
    await page.getByText("Counting: 340,000 of about 1,000,000 dead letters looked at.").waitFor();
    expect(await page.getByRole("progressbar", { name: "Counted" }).getAttribute("aria-valuenow")).toBe("340000");
    expect(await axeFaults(page)).toEqual([]);
    control.answer(answers(...others, { ...reported, looked: 0, of: null, before: 3 }));
    await page.getByText("Waiting for other counts.").waitFor();
    control.answer(answers(...others));
    await page.getByText("Waiting for other counts.").waitFor({ state: "detached" });
    control.answer(counted(7));
    await page.getByRole("button", { name: "Replay 7" }).waitFor();
    expect(await page.getByRole("progressbar").count()).toBe(0);
  });

  it("says how far it is with counting anew, and keeps what was counted until then", async () => {
    const filter = { destinationId: "dst_4k2v8m1n0p3q5r7s", reason: "window_expired" };
    const reported = { purpose: "replay", again: false, filter, askedAt: "2026-11-22T10:00:00.000Z" };
    const page = await visit(review, counted(7));
    await page.getByRole("button", { name: "Replay 7" }).waitFor();
    control.answer({
      [REPLAY]: "pending",
      [COUNTING]: { body: { data: [{ ...reported, looked: 340_000, of: 1_000_000, before: 0 }] } },
    });
    const anew = page.getByRole("button", { name: "Count anew" });
    await anew.click();
    await page.getByText("Counting: 340,000 of about 1,000,000 dead letters looked at.").waitFor();
    expect(await page.getByRole("button", { name: "Replay 7" }).isVisible()).toBe(true);
    expect(await anew.getAttribute("aria-disabled")).toBe("true");
    expect(await axeFaults(page)).toEqual([]);
    control.answer(counted(8));
    await page.getByRole("button", { name: "Replay 8" }).waitFor();
    expect(await page.getByRole("progressbar").count()).toBe(0);
  });

  it("sends one first when asked, and tells what the receiver said of it", async () => {
    const page = await visit(review, NAMED);
    const one = page.getByRole("button", { name: "Send one first" });
    await one.focus();
    await page.keyboard.press("Enter");
    await page.getByText(/it was (not )?taken/).waitFor();
    // It can be pressed no more, and the keyboard is where it was.
    await poll(() => one.getAttribute("aria-disabled")).toBe("true");
    expect(await one.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(bodies("POST /v1/deliveries/resend")).toEqual([
      { messageId: "message-1", destinationId: "dst_4k2v8m1n0p3q5r7s" },
    ]);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("counts those too that were sent since, when that is asked for", async () => {
    const page = await visit(review, NAMED);
    await page.getByText("Also those that were delivered or replayed since").click();
    await page.getByText("Delivered or replayed since: too").waitFor();
    // The filter says so before control is asked.
    await poll(() => bodies(REPLAY).at(-1)).toMatchObject({ again: true, dryRun: true });
  });

  it("says why it did not begin, and counts anew", async () => {
    const answers = counted(7);
    const page = await visit(review, {
      ...answers,
      [REPLAY]: (request: FakeRequest) =>
        (request.body as { readonly plan?: string }).plan === undefined
          ? answers[REPLAY](request)
          : problem(404, "there is no plan rpl_17z3t7pw8brbz6xq: plans are kept for an hour"),
    });
    await page.getByRole("button", { name: "Replay 7" }).click();
    await page.getByText("plans are kept for an hour").waitFor();
    await page.getByRole("button", { name: "Count anew" }).click();
    await poll(() => bodies(REPLAY).length).toBe(3);
  });
});

describe("what leads to a review", () => {
  it("is every list of dead letters, with its filter", async () => {
    const page = await visit("/dead-letters/letters?reason=window_expired&error=503");
    await page.getByRole("link", { name: "Review and replay" }).click();
    await page.waitForURL("**/replay?reason=window_expired&error=503");
    await page.goto(`${control.url}/dead-letters`);
    await page.getByRole("grid").getByRole("link", { name: "Review and replay" }).click();
    await page.waitForURL("**/replay?destinationId=*&reason=window_expired&error=503");
  });

  it("is the deliveries' filter where it is of what was given up, else a word why it is not", async () => {
    const page = await visit("/deliveries?state=dead_letter&event=Order&since=2026-11-22T06:10:00Z");
    await page.getByRole("link", { name: "Send all matching again" }).click();
    await page.waitForURL("**/replay?event=Order&since=2026-11-22T06%3A10%3A00Z");
    for (const [search, why] of [
      ["", "choose failed deliveries first"],
      ["?state=dead_letter&statusClass=5xx", "cannot be sent again by statusClass"],
    ] as const) {
      await page.goto(`${control.url}/deliveries${search}`);
      await page.getByRole("button", { name: "Send all matching again" }).focus();
      await page.getByRole("tooltip", { name: why }).waitFor();
    }
  });
});

describe("a replay", () => {
  it.each([
    [{}, "end fixed at"],
    [
      { since: "2026-11-22T06:10:00.000Z", until: "2026-11-22T10:10:00.000Z" },
      "07:10:00.000 → 11:10:00.000, end fixed at",
    ],
    [{ since: "2026-11-22T06:10:00.000Z" }, "07:10:00.000 → end fixed at"],
    [{ until: "2026-11-22T10:10:00.000Z" }, "→ 11:10:00.000, end fixed at"],
  ])("says of when its dead letters are, and where their end was fixed: %j", async (filter, words) => {
    const createdAt = "2026-11-22T10:42:31.007Z";
    const page = await visit(`/replays/${RUNNING.id}`, {
      "GET /v1/replays/{id}": { body: { ...RUNNING, filter, createdAt } },
    });
    const reported = page.getByText(/end fixed at/);
    await reported.waitFor();
    // Moments of another day have it before them.
    const said = (await reported.innerText()).replace(/\s+/g, " ").replaceAll(/\d+ \w+(?: \d{4})?,? (?=\d\d:)/g, "");
    expect(said).toContain(`${words} 11:42:31.007; started`);
  });

  it("is paused, gone on with and cancelled, and says then what is left", async () => {
    let now: object = { state: "running" };
    const become = (next: object) => () => {
      now = next;
      return { body: { ...RUNNING, ...now } };
    };
    const page = await visit(`/replays/${RUNNING.id}`, {
      "GET /v1/replays/{id}": () => ({ body: { ...RUNNING, ...now } }),
      "POST /v1/replays/{id}/pause": become({ state: "paused" }),
      "POST /v1/replays/{id}/resume": become({ state: "running" }),
      "POST /v1/replays/{id}/cancel": become({ state: "cancelled", endedAt: "2026-11-22T15:06:00.000Z" }),
    });
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("cancelled").waitFor();
    await poll(() => page.getByRole("button", { name: /^(Pause|Go on|Cancel)$/ }).count()).toBe(0);
    await page.getByRole("link", { name: "Review what is left" }).click();
    await page.waitForURL("**/replay?destinationId=dst_4k2v8m1n0p3q5r7s");
  });

  it("tells speed and time left while it runs, and keeps what it told while control does not answer", async () => {
    let replayed = 1000;
    const page = await visit(`/replays/${RUNNING.id}`, {
      "GET /v1/replays/{id}": () => {
        replayed += 100;
        return { body: { ...RUNNING, replayed } };
      },
    });
    await page.getByText(/^\d+\/s$/).waitFor();
    await page.getByText(/^\d+ m( \d+ s)?$/).waitFor();
    control.answer({ "GET /v1/replays/{id}": problem(503, "control is not ready") });
    await page.getByText("control is not ready").waitFor();
    await page.getByText("of 12,345 sent").waitFor();
  });
});
