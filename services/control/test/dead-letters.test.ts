import { attemptAt, createLogWriter, deadLetterAt, type LogWriter, momentOf } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

let topics: TestTopics;
let control: TestControl;
let writer: LogWriter;

beforeAll(async () => {
  topics = await createTestTopics("control");
  writer = await createLogWriter(topics);
  control = await startTestControl(topics);
  await writer.deadLetters([1, 2, 3].map((n) => deadLetterAt(n)));
  const removed = { destinationId: "dst_2", reason: "destination_removed", lastAttempt: [], attempts: 0 } as const;
  await writer.deadLetters([deadLetterAt(4, removed), deadLetterAt(5, { ...removed, windowStartMs: null })], 1);
  await writer.deadLetters([deadLetterAt(6, { reason: "rejected_by_receiver" })]);
  await eventually(async () => {
    const { body } = await control.call("GET", "/v1/dead-letters");
    expect(body.data).toHaveLength(6);
  });
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

const timesOf = async (query: string): Promise<string[]> => {
  const { status, body } = await control.call("GET", `/v1/dead-letters?${query}`);
  expect(status).toBe(200);
  return body.data.map(({ time }: { time: string }) => time);
};

describe("dead letters", () => {
  it("are listed newest first, with what became of them and without their bodies", async () => {
    const { body } = await control.call("GET", "/v1/dead-letters?limit=2");
    expect(body.data).toEqual([
      {
        place: "0:3",
        time: momentOf(6),
        reason: "rejected_by_receiver",
        reasonClass: "receiver",
        destinationId: "dst_1",
        sourceId: "src_1",
        messageId: "message-6",
        type: "track",
        event: "Order Completed",
        userKey: "user-7",
        receivedAt: momentOf(0),
        attempts: 3,
        deferrals: 1,
        windowStart: momentOf(0),
        lastAttempt: [{ url: "https://a.example/hook", status: 503, error: null, durationMs: 5.1 }],
        replayId: null,
        replays: 0,
        state: "open",
      },
      expect.objectContaining({ time: momentOf(5), windowStart: null, lastAttempt: [] }),
    ]);
  });

  it.each([
    ["destinationId=dst_2", [5, 4]],
    ["reason=window_expired", [3, 2, 1]],
    ["reason=window_expired&destinationId=dst_2", []],
    [`since=${momentOf(3)}&until=${momentOf(6)}`, [5, 4, 3]],
    ["error=503", [6, 3, 2, 1]],
    ["error=timeout", []],
    ["type=track&userId=user-7&sourceId=src_1&event=Order%20Completed&destinationId=dst_2", [5, 4]],
    ["event=Other", []],
    ["userId=user", []],
  ])("are asked for by %s", async (query, expected) => {
    expect(await timesOf(query)).toEqual(expected.map(momentOf));
  });

  it("refuse a reason that there is none of", async () => {
    const { status, body } = await control.call("GET", "/v1/dead-letters?reason=bored");
    expect([status, body.detail]).toEqual([400, expect.stringMatching(/^reason: expected one of window_expired, /)]);
  });
});

describe("a dead letter at its place", () => {
  const at = async (place: string) => (await control.call("GET", `/v1/dead-letters/${place}`)).body;

  it("has what became of it, as its row of the list has", async () => {
    const { body } = await control.call("GET", "/v1/dead-letters?destinationId=dst_1&limit=1");
    const [row] = body.data;
    expect(await at(row.place)).toMatchObject(row);
    const again = attemptAt(20, { messageId: row.messageId });
    await writer.attempts([again]);
    await eventually(async () => expect(await at(row.place)).toMatchObject({ ...row, state: "deliveredSince" }));
  });
});

describe("counts of dead letters", () => {
  const all = [
    { destinationId: "dst_1", reason: "rejected_by_receiver", count: 1 },
    { destinationId: "dst_1", reason: "window_expired", count: 3 },
    { destinationId: "dst_2", reason: "destination_removed", count: 2 },
  ];

  it("are by destination and reason", async () => {
    const { status, body } = await control.call("GET", "/v1/dead-letters/counts");
    const { asOf, ...rest } = body;
    expect([status, rest]).toEqual([
      200,
      { data: all, nextCursor: null, complete: expect.any(Boolean), leftOut: { suppressed: 0, purged: 0 } },
    ]);
    expect(asOf === null || Date.parse(asOf) <= Date.now()).toBe(true);
  });

  it.each([
    ["destinationId=dst_2", [all[2]]],
    ["reason=window_expired", [all[1]]],
    [
      `since=${momentOf(3)}&until=${momentOf(5)}`,
      [
        { ...all[1], count: 1 },
        { ...all[2], count: 1 },
      ],
    ],
  ])("can be of %s", async (query, expected) => {
    const { body } = await control.call("GET", `/v1/dead-letters/counts?${query}`);
    expect(body.data).toEqual(expected);
  });

  it("come in pages, each count once and whole", async () => {
    const first = await control.call("GET", "/v1/dead-letters/counts?limit=2");
    expect(first.body.data).toEqual(all.slice(0, 2));
    const second = await control.call("GET", `/v1/dead-letters/counts?limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body).toMatchObject({ data: all.slice(2), nextCursor: null });
    expect((await control.call("GET", "/v1/dead-letters/counts?cursor=x")).status).toBe(400);
  });
});

it("one that was given up without an attempt goes by what its URLs answered before, as its headers do", async () => {
  const past = (attempt: number, status: number) => ({
    ...{ attempt, replayId: null, startedAtMs: 1 },
    urls: [{ url: "https://a.example/hook", status, error: null, durationMs: 1 }],
  });
  const history = [past(1, 502), past(2, 504)];
  await writer.deadLetters([deadLetterAt(7, { destinationId: "dst_past", lastAttempt: [], history })], 1);
  await eventually(async () => expect(await timesOf("destinationId=dst_past")).toHaveLength(1));
  expect([await timesOf("error=504"), await timesOf("error=502")]).toEqual([[momentOf(7)], []]);
  const groups = (await control.call("GET", "/v1/dead-letters/groups?destinationId=dst_past")).body.data;
  expect(groups).toMatchObject([{ error: "504", count: 1 }]);
  const counted = { destinationId: "dst_past", error: "504", dryRun: true };
  const { body } = await control.call("POST", "/v1/dead-letters/purge", counted);
  expect([body.matched, body.counts]).toMatchObject([1, [{ error: "504", count: 1 }]]);
  const exported = await control.call("GET", "/v1/dead-letters/export?destinationId=dst_past&format=csv");
  expect(exported.text).toContain(",504,");
});
