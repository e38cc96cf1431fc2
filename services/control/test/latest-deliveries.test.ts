/** `GET /v1/deliveries/latest` over a real log. */

import {
  attemptAt,
  createLogWriter,
  deadLetterAt,
  deferralAt,
  type LogWriter,
  momentOf,
} from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

const IN_AN_HOUR_MS = Date.now() + 3_600_000;

function retry(delayMs: number) {
  const times = { dueAtMs: IN_AN_HOUR_MS, deadlineMs: IN_AN_HOUR_MS + 1000 };
  return { kind: "retry" as const, urls: null, delayMs, ...times, reason: null };
}

const failed = (n: number, message: string, attempt: number, error: string | null = null) =>
  attemptAt(n, {
    ...{ messageId: message, attempt, outcome: "retryable", originOffset: 1, followUps: [retry(300_000)] },
    urls: [
      { url: "https://a.example/hook", status: error === null ? 503 : null, error, durationMs: 12.345, answer: null },
    ],
  });

describe("the deliveries as they stand", () => {
  let topics: TestTopics;
  let control: TestControl;
  let writer: LogWriter;

  beforeAll(async () => {
    topics = await createTestTopics("control");
    writer = await createLogWriter(topics);
    control = await startTestControl(topics);
    const lost = { originPartition: 1, originOffset: 1 };
    // Out of order, over two partitions, one of them twice.
    await writer.attempts([failed(9, "waits", 3, "timeout"), failed(3, "waits", 1)]);
    await writer.attempts([failed(6, "waits", 2), failed(9, "waits", 3, "timeout")], 1);
    await writer.deferrals([deferralAt(4, { messageId: "deferred", dueAtMs: IN_AN_HOUR_MS })]);
    await writer.deadLetters([deadLetterAt(8, { messageId: "dead", ...lost })]);
    await writer.attempts([failed(2, "dead", 1)]);
    await writer.attempts([
      attemptAt(1, { messageId: "arrived", destinationId: "dst_2", type: "page" }),
      attemptAt(10, { messageId: "dead", replayId: "rpl_1", ...lost }),
    ]);
    await eventually(async () => {
      const { body } = await control.call("GET", "/v1/deliveries/latest");
      expect(body.complete).toBe(true);
      // The dead one may be known by its attempt alone, and is then one that waits.
      const states = body.data.map(({ state }: { state: string }) => state);
      expect(states).toEqual(["delivered", "waiting_retry", "dead_letter", "deferred", "delivered"]);
    });
  });

  afterAll(async () => {
    await control.stop();
    await topics.remove();
  });

  const listed = async (query: string): Promise<string[]> => {
    const { status, body } = await control.call("GET", `/v1/deliveries/latest?${query}`);
    expect(status).toBe(200);
    return body.data.map(({ messageId }: { messageId: string }) => messageId);
  };

  it("tells each once, newest attempt first: how it stands, its attempts, when due, what failed last", async () => {
    const { body } = await control.call("GET", "/v1/deliveries/latest");
    expect(body.data.map(({ time }: { time: string }) => time)).toEqual([10, 9, 8, 4, 1].map(momentOf));
    expect(body.data[1]).toEqual({
      ...{ time: momentOf(9), messageId: "waits", destinationId: "dst_1", sourceId: "src_1", type: "track" },
      ...{ event: "Order Completed", userKey: "user-7", origin: { partition: 1, offset: 1 }, replayId: null },
      receivedAt: new Date(Date.parse(momentOf(9)) - 250).toISOString(),
      ...{
        state: "waiting_retry",
        attempts: 3,
        error: "timeout",
        sentBy: null,
        sentAgain: null,
        deferral: null,
        deadLetter: null,
      },
      answers: [
        { attempt: 1, time: momentOf(3), urls: ["503"] },
        { attempt: 2, time: momentOf(6), urls: ["503"] },
        { attempt: 3, time: momentOf(9), urls: ["timeout"] },
      ],
      earlier: 0,
      due: new Date(IN_AN_HOUR_MS).toISOString(),
      deadline: new Date(IN_AN_HOUR_MS + 1000).toISOString(),
      lastAttempt: {
        ...{ time: momentOf(9), outcome: "retryable" },
        urls: [{ url: "https://a.example/hook", status: null, error: "timeout", durationMs: 12.3 }],
      },
    });
    expect(body.searchedTo).toBeNull();
  });

  it("counts first deferrals and dead letters in, and names the replay that sent a dead one again", async () => {
    const { body } = await control.call("GET", "/v1/deliveries/latest");
    expect(body.data[3]).toMatchObject({
      ...{ messageId: "deferred", state: "deferred", attempts: 0, due: new Date(IN_AN_HOUR_MS).toISOString() },
      ...{ lastAttempt: null, deferral: { cause: "breaker_open", since: momentOf(4) } },
    });
    expect(body.data[2]).toMatchObject({
      ...{ messageId: "dead", state: "dead_letter", attempts: 3, sentAgain: "rpl_1", due: null },
      deadLetter: { reason: "window_expired", reasonClass: "receiver", time: momentOf(8), place: "0:0" },
    });
    expect(body.data[0]).toMatchObject({ messageId: "dead", state: "delivered", replayId: "rpl_1", sentAgain: null });
  });

  it.each([
    ["state=waiting_retry", ["waits"]],
    ["state=dead_letter&destinationId=dst_1", ["dead"]],
    ["state=delivered", ["dead", "arrived"]],
    ["destinationId=dst_2", ["arrived"]],
    ["messageId=dead", ["dead", "dead"]],
    ["messageId=dead&replayId=rpl_1", ["dead"]],
    ["outcome=retryable", ["waits", "dead"]],
    ["error=timeout", ["waits"]],
    ["statusClass=5xx", ["dead"]],
    ["attempt=3", ["waits", "dead"]],
    ["type=page", ["arrived"]],
    ["userId=user-8", []],
    ["event=Order%20Completed&sourceId=src_1&userId=user-7&type=track", ["dead", "waits", "dead", "deferred"]],
    [`since=${momentOf(4)}&until=${momentOf(9)}`, ["dead", "deferred"]],
  ])("is asked by %s", async (query, expected) => {
    expect(await listed(query)).toEqual(expected);
  });

  it("pages through each once", async () => {
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await control.call(
        "GET",
        `/v1/deliveries/latest?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`,
      );
      seen.push(...body.data.map(({ time }: { time: string }) => time));
      cursor = body.nextCursor;
    }
    expect(seen).toEqual([10, 9, 8, 4, 1].map(momentOf));
  });

  it("refuses a state that there is not", async () => {
    const { status, body } = await control.call("GET", "/v1/deliveries/latest?state=lost");
    expect([status, body.detail]).toEqual([
      400,
      "state: expected one of delivered, waiting_retry, deferred, dead_letter, suppressed, other",
    ]);
  });

  it("names of what a replay sent in vain the replay after it, and never itself", async () => {
    const again = { messageId: "again", originPartition: 0, originOffset: 9 };
    await writer.deadLetters([
      deadLetterAt(20, again),
      deadLetterAt(21, { ...again, replayId: "rpl_3" }),
      deadLetterAt(22, { ...again, replayId: "rpl_4" }),
    ]);
    await eventually(async () => {
      const { body } = await control.call("GET", "/v1/deliveries/latest?messageId=again");
      const sent = body.data.map(({ replayId, sentAgain }: Record<string, string | null>) => [replayId, sentAgain]);
      expect(sent).toEqual([
        ["rpl_4", null],
        ["rpl_3", "rpl_4"],
        [null, "rpl_4"],
      ]);
    });
  });

  it("names nobody whose events a deletion request stopped", async () => {
    const source = await control.call("POST", "/v1/sources", { name: "Shop", kind: "web" });
    await writer.attempts([attemptAt(11, { messageId: "hidden", sourceId: source.body.id, userKey: "user-9" })]);
    await eventually(async () => expect(await listed("userId=user-9")).toEqual(["hidden"]));
    const { status } = await control.call("POST", "/v1/deletions", { userId: "user-9", suppress: true });
    expect(status).toBe(202);
    await eventually(async () => {
      const { body } = await control.call("GET", "/v1/deliveries/latest?messageId=hidden");
      expect(body.data).toMatchObject([{ messageId: "hidden", userKey: null, event: null, state: "delivered" }]);
    });
  });
});
