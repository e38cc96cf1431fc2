/**
 * The screens of the main commands on a terminal, wide and narrow, and their output where there is none, held to files.
 * Where a change of them is meant: npx vitest run packages/cli/test/screens.test.ts -u
 */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeControl, runBinary, startFakeControl, TOKEN } from "./fake-control.ts";
import { FROZEN, NOW, runOnScreen } from "./screen.ts";
import { WRONG_STATUS } from "./wrong-status.ts";

const WIDTHS = [60, 120] as const;
const WHY = ["events", "why", "message-7"];
const REPLAY = ["dead-letters", "replay", "--destination-id", "dst_1", "--yes"];
const LISTEN = ["listen", "--count", "2"];

const VERDICT = {
  ...{ messageId: "message-7", cause: "retrying", complete: true, cut: false },
  sentence:
    "Acme CRM has not taken it yet: 503 from https://acme.example/hook, tried 3 times, the next time at 10:43:10.",
  command: "posthaste destinations health dst_1",
  events: [
    {
      ...{ sourceId: "src_1", type: "track", event: "Order Completed", userKey: "ada", cause: "retrying" },
      timeline: [
        { time: "2026-11-22T10:42:07.113Z", what: "received", destinationId: null, detail: null },
        { time: "2026-11-22T10:42:07.120Z", what: "attempt", destinationId: "dst_1", detail: "503 in 12 ms" },
        { time: "2026-11-22T10:42:17.131Z", what: "attempt", destinationId: "dst_1", detail: "timeout after 5,000 ms" },
      ],
      destinations: [{ sentence: "Acme CRM: retrying, try 4 at 2026-11-22T10:43:10.000Z." }],
    },
  ],
};
const RECEIVER = { id: "rcv_1", url: "http://127.0.0.1:8090/receive/rcv_1" };
const request = (seq: number) => ({
  ...{ seq, time: NOW, method: "POST", headers: { "x-message-id": `message-${seq}` }, bodyBase64: "e30=", bytes: 2 },
  signature: seq === 1 ? "valid" : "invalid",
});
const MATCHED = 1_234_567;
const PLAN = { id: null, plan: "rpl_1", matched: MATCHED, counts: [{ destinationId: "dst_1", count: MATCHED }] };

let control: FakeControl;
/** How many dead letters the replay has sent; at the end it has ended. */
let replayed = 0;

beforeAll(async () => {
  control = await startFakeControl();
});
afterAll(() => control.close());
beforeEach(() => {
  control.reset();
  control.script("GET /v1/status", WRONG_STATUS);
  control.script("GET /v1/events/message-7", VERDICT);
  control.script("POST /v1/test-receivers", RECEIVER, 201);
  control.scriptRequest("GET /v1/test-receivers/rcv_1", ({ target }) => {
    const after = Number(new URL(target, "http://x").searchParams.get("after"));
    const requests = [request(1), request(2)].filter(({ seq }) => seq > after);
    return { status: 200, body: JSON.stringify({ ...RECEIVER, received: 2, requests }) };
  });
  replayed = 0;
  control.script("GET /v1/destinations/dst_1", { id: "dst_1", name: "Acme CRM" });
  control.scriptRequest("POST /v1/replays", ({ body }) => {
    const isStart = JSON.parse(String(body)).plan !== undefined;
    return { status: 202, body: JSON.stringify(isStart ? { ...PLAN, id: "rpl_1" } : PLAN) };
  });
  control.scriptRequest("GET /v1/replays/rpl_1", () => {
    const endedAt = replayed === MATCHED ? NOW : null;
    const state = endedAt === null ? "running" : "done";
    const outcomes = { delivered: replayed, failedAgain: 0 };
    const body = { id: "rpl_1", state, matched: MATCHED, replayed, ...outcomes, leftOutSince: {}, endedAt };
    return { status: 200, body: JSON.stringify(body) };
  });
});

const golden = (name: string) => `./screens/${name}.txt`;
/** How fast it goes is the machine's matter. */
const withoutRates = (text: string) => text.replace(/[\d,]+ a second.*/, "… a second");

describe.each(WIDTHS)("on a terminal of %i columns", (columns) => {
  it.each([
    ["status", ["status", "--no-color"], 3],
    ["events-why", WHY, 3],
    ["listen", LISTEN, 0],
  ] as const)("%s is as its file has it", async (name, words, code) => {
    const screen = runOnScreen(words, control.url, columns);
    expect(await screen.ended).toBe(code);
    await expect(screen.text()).toMatchFileSnapshot(golden(`${name}-${columns}`));
  });

  it("the progress of a replay is one line that is written over, and gone at its end", async () => {
    const screen = runOnScreen(REPLAY, control.url, columns);
    await screen.shows("running: 0 of 1,234,567");
    replayed = 611_000;
    await screen.shows("611,000 of");
    await expect(withoutRates(screen.text())).toMatchFileSnapshot(golden(`replay-going-${columns}`));
    replayed = MATCHED;
    expect(await screen.ended).toBe(0);
    await expect(screen.text()).toMatchFileSnapshot(golden(`replay-done-${columns}`));
  });
});

describe("an upload of lines on a terminal", () => {
  it.each([
    ["users", ["audiences", "sync", "aud_1"], "PUT /v1/audiences/aud_1/members", "GET /v1/audiences/aud_1"],
    ["values", ["traits", "put", "ltv"], "PUT /v1/computed-traits/ltv", "GET /v1/computed-traits"],
  ] as const)("says how many %s are compared while control has not answered", async (noun, words, put, get) => {
    let compared = 12_000;
    const answer = Promise.withResolvers<void>();
    control.scriptRequest(put, () => ({ until: answer.promise, body: JSON.stringify({ unchanged: 30_000 }) }));
    control.scriptRequest(get, () => {
      const syncing = { received: 30_000, compared };
      const synced = { name: "ltv", sourceId: "src_1", syncing };
      const others = [
        { ...synced, name: "other", syncing: null },
        { ...synced, sourceId: "src_2", syncing: null },
      ];
      return { body: JSON.stringify({ ...synced, data: [...others, synced], nextCursor: null }) };
    });
    const sourceId = noun === "values" ? ["--source-id", "src_1"] : [];
    const screen = runOnScreen([...words, fileURLToPath(import.meta.url), ...sourceId], control.url, 60);
    await screen.shows(`${noun} compared: 12,000, `);
    compared = 24_000;
    await screen.shows(`${noun} compared: 24,000, `);
    answer.resolve();
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/^unchanged {2}30000\n {2}posthaste /);
  });
});

describe("without a terminal", () => {
  it.each([
    ["status", ["status"], 3],
    ["events-why", WHY, 3],
    ["listen", LISTEN, 0],
    ["replay", REPLAY, 0],
  ] as const)("%s prints what its file has, data apart from talk", async (name, words, code) => {
    replayed = MATCHED;
    const env = { POSTHASTE_ADMIN_TOKEN: TOKEN, NODE_OPTIONS: FROZEN };
    const reported = await runBinary([...words, "--url", control.url], { env });
    expect(reported.code).toBe(code);
    await expect(`${reported.stdout}--- standard error\n${reported.stderr}`).toMatchFileSnapshot(
      golden(`${name}-piped`),
    );
  });
});
