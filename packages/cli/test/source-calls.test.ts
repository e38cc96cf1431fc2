import { eventually } from "@posthaste/testkit/eventually";
import { describe, expect, it } from "vitest";
import { useCommand } from "./harness.ts";

const command = useCommand();

const CALLS = "GET /v1/sources/src_1/calls";
const TAKEN = {
  ...{ id: "taken:0:7", time: "2026-11-22T10:00:00.000Z", what: "taken", code: null, status: null, type: "track" },
  ...{ event: "Ordered", userKey: "user-7", messageIds: ["m-7"] },
};
const REFUSED = {
  ...{ id: "refused:0:1:0", time: "2026-11-22T10:00:01.000Z", what: "refused", code: "rate_limited", status: 429 },
  ...{ type: null, event: null, userKey: null, messageIds: ["m-8", "m-9"] },
};
const COUNTS = {
  ...{ since: "2026-11-22T09:00:00.000Z", accepted: 12, lastAcceptedAt: TAKEN.time, rejected: [] },
  refused: [{ code: "rate_limited", count: 3, advice: "Send less." }],
};

describe("sources calls", () => {
  it("lists what a source sent, and says how much of it was not taken and what to change", async () => {
    command.control.script(CALLS, { data: [REFUSED, TAKEN], counts: COUNTS, complete: true });
    const { code, stdout, stderr } = await command.posthaste(["sources", "calls", "src_1", "--limit", "20"]);
    expect([code, stdout]).toEqual([
      0,
      `${REFUSED.time}\trefused\trate_limited\t429\t\t\t\tm-8,m-9\n` +
        `${TAKEN.time}\ttaken\t\t\ttrack\tOrdered\tuser-7\tm-7\n`,
    ]);
    expect(stderr).toBe(
      `since ${COUNTS.since}: 12 taken, the last at ${TAKEN.time}\nrequests refused: rate_limited x3. Send less.\n`,
    );
    expect(command.control.requests.at(-1)?.target).toBe("/v1/sources/src_1/calls?limit=20");
  });

  it.each([
    [null, "the newest taken calls are counted within ten seconds"],
    [
      "2026-11-22T09:59:59.999Z",
      "12 taken, the last at 2026-11-22T09:59:59.999Z; the newest taken calls are counted within ten seconds",
    ],
  ])("says that the newest are not counted yet, where the count ends at %s", async (lastAcceptedAt, words) => {
    const counts = { ...COUNTS, accepted: lastAcceptedAt === null ? 0 : 12, lastAcceptedAt, refused: [] };
    command.control.script(CALLS, { data: [TAKEN], counts, complete: true });
    const { stderr } = await command.posthaste(["sources", "calls", "src_1"]);
    expect(stderr).toBe(`since ${COUNTS.since}: ${words}\n`);
  });

  it("--follow prints the newest, oldest first, and then each that comes once", async () => {
    const event = (name: string, id: string, data: object) =>
      `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
    const other = { ...TAKEN, id: "taken:0:8" };
    command.control.script(CALLS, { data: [REFUSED, TAKEN], counts: COUNTS, complete: true });
    command.control.scriptRequest("GET /v1/live", ({ headers }) =>
      headers["last-event-id"] === undefined
        ? { status: 200, body: event("beat", "t=7", {}) + event("calls", "t=8", REFUSED) }
        : { status: 200, body: event("calls", "t=9", other) },
    );
    const lives = () => command.control.requests.filter(({ target }) => target.startsWith("/v1/live"));
    const { code, stdout, stderr } = await command.posthaste(["sources", "calls", "src_1", "--follow", "--json"], {
      during: async (pid) => {
        await eventually(() => expect(lives().length).toBeGreaterThan(2));
        process.kill(pid, "SIGINT");
      },
    });
    const printed = stdout.trim().split("\n");
    expect([code, printed.map((line) => JSON.parse(line).id).slice(0, 3)]).toEqual([
      130,
      [TAKEN.id, REFUSED.id, other.id],
    ]);
    expect(stderr).toMatch(/^lost connection: control ended the stream\nagain since 20\d\d-\S+Z\n/);
    expect(lives()[0]?.target).toBe("/v1/live?topics=calls&sourceId=src_1");
    expect(
      lives()
        .map(({ headers }) => headers["last-event-id"])
        .slice(0, 3),
    ).toEqual([undefined, "t=8", "t=9"]);
  });

  it("--follow ends with 3 where there is no such source, and with 5 where control gives no stream", async () => {
    expect((await command.posthaste(["sources", "calls", "src_none", "--follow"])).code).toBe(3);
    command.control.script("GET /v1/live", { detail: "not now" }, 503);
    const { code, stderr } = await command.posthaste(["sources", "calls", "src_1", "--follow"]);
    expect([code, stderr]).toEqual([5, "posthaste: not now\n"]);
  });

  it("ends with 3 where there is no such source", async () => {
    expect((await command.posthaste(["sources", "calls", "src_none"])).code).toBe(3);
  });
});

describe("sources sample", () => {
  const SAMPLE = "POST /v1/sources/src_1/sample";

  it("sends a call of the type, and says how to look at it", async () => {
    command.control.script(SAMPLE, { messageId: "test_1", type: "page", taken: true, status: 200 });
    const { code, stdout, stderr } = await command.posthaste(["sources", "sample", "src_1", "--type", "page"]);
    expect([code, stderr]).toEqual([0, "look at it: posthaste events why test_1\n"]);
    expect(stdout).toContain("messageId\ttest_1\n");
    expect(command.lastBody()).toEqual({ type: "page" });
  });

  it("ends with 3 when ingest did not take it", async () => {
    command.control.script(SAMPLE, { messageId: "test_1", taken: false, status: 401, code: "source_disabled" });
    const { code, stderr } = await command.posthaste(["sources", "sample", "src_1"]);
    expect([code, stderr]).toEqual([3, ""]);
  });
});
