/** Search for events by user, name, source and time, in the records of the services. */

import { shortName } from "@posthaste/core/routing/short-name";
import type { UnroutedEvent } from "@posthaste/core/routing/unrouted-event";
import { attemptAt, createLogWriter, deadLetterAt, type LogWriter, momentOf } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

const LONG_USER = `ada-${"x".repeat(400)}`;

let topics: TestTopics;
let control: TestControl;
let writer: LogWriter;
let sourceId: string;

const unrouted = (messageId: string, differing: Partial<UnroutedEvent> = {}): UnroutedEvent => ({
  ...{ messageId, cause: "no_destination", type: "track", originPartition: 0, originOffset: 500 },
  ...{ userKey: "ada", event: "Signed Up", receivedAtMs: Date.parse(momentOf(20)), configOffset: 1 },
  ...{ destinationIds: [], firstOffset: null, integration: null },
  ...differing,
});

beforeAll(async () => {
  topics = await createTestTopics("event-search");
  writer = await createLogWriter(topics);
  control = await startTestControl(topics);
  sourceId = (await control.call("POST", "/v1/sources", { name: "Shop", kind: "server" })).body.id;
  const ofAda = { sourceId, userKey: "ada" };
  const failed = {
    outcome: "retryable" as const,
    urls: [{ url: "https://a.example/hook", status: 503, error: null, durationMs: 9, answer: null }],
  };
  await writer.attempts([
    attemptAt(10, { messageId: "took", ...ofAda }),
    // One event at two destinations, and in its attempts.
    attemptAt(11, { messageId: "twice", ...ofAda, ...failed }),
    attemptAt(12, { messageId: "twice", ...ofAda, destinationId: "dst_2" }),
    attemptAt(13, { messageId: "of-bea", sourceId, userKey: "bea", event: "Signed Up" }),
    attemptAt(14, { messageId: "elsewhere", sourceId: "src_2", userKey: "ada" }),
    attemptAt(15, { messageId: "of-cid", sourceId, userKey: "cid" }),
  ]);
  const receivedAtMs = Date.parse(momentOf(16));
  await writer.deadLetters([deadLetterAt(16, { messageId: "died", receivedAtMs, ...ofAda })], 0, "ada");
  await writer.unrouted({ sourceId, unroutedAtMs: Date.parse(momentOf(20)), events: [unrouted("nowhere")] });
  const call = { rejectedAtMs: Date.parse(momentOf(25)), code: "missing_user", message: "Say whose.", callJson: "{}" };
  const ofCall = { index: 0, event: "Signed Up", single: true };
  await writer.rejectedCalls({
    sourceId,
    calls: [
      { ...call, ...ofCall, messageId: "rejected", userKey: "ada" },
      { ...call, ...ofCall, messageId: null, userKey: "ada" },
    ],
  });
  await writer.unrouted({
    sourceId,
    unroutedAtMs: Date.parse(momentOf(5)),
    events: Array.from({ length: 30 }, (_, index) =>
      unrouted(`of-dan-${index}`, {
        ...{ userKey: "dan", event: "Paged", originOffset: 600 + index },
        receivedAtMs: Date.parse(momentOf(5)),
      }),
    ),
  });
  await writer.attempts([attemptAt(1, { messageId: "long", sourceId, userKey: shortName(LONG_USER) })]);
  // Control has read the last record of each topic.
  await eventually(async () => {
    const last = [LONG_USER, "dan", "ada"].map(async (userId) => (await search({ userId, limit: "50" })).data);
    const [long, dan, ada] = await Promise.all(last);
    expect([long.length, dan.length, ada[0]?.messageId]).toEqual([1, 30, "rejected"]);
    expect(ada).toContainEqual(expect.objectContaining({ messageId: "died" }));
  });
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

interface Found {
  readonly destinationIds: readonly string[];
  readonly messageId: string;
  readonly cause: string;
}
const search = async (query: Record<string, string>) => {
  const { status, body } = await control.call("GET", `/v1/events?${new URLSearchParams(query)}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const idsOf = async (query: Record<string, string>): Promise<readonly string[]> =>
  (await search(query)).data.map(({ messageId }: Found) => messageId);

describe("the search for events", () => {
  it("finds a user's, newest first, each once and with its verdict", async () => {
    await eventually(async () => {
      const { data, nextCursor, complete, searchedTo } = await search({ userId: "ada" });
      expect(data.map(({ messageId, cause }: Found) => [messageId, cause])).toEqual([
        ["rejected", "refused"],
        ["nowhere", "no_destination"],
        ["died", "dead_letter"],
        ["elsewhere", "delivered"],
        ["twice", "unknown"],
        ["took", "delivered"],
      ]);
      expect([nextCursor, complete, searchedTo]).toEqual([null, true, null]);
      expect(data[5]).toEqual({
        ...{ messageId: "took", sourceId, type: "track", event: "Order Completed", userKey: "ada", cause: "delivered" },
        receivedAt: new Date(Date.parse(momentOf(10)) - 250).toISOString(),
        sentence: expect.stringMatching(/^Delivered to dst_1 at /),
        ...{ deletion: null, destinationIds: ["dst_1"] },
      });
      expect(data.map((each: Found) => [...each.destinationIds].sort())).toEqual([
        ...[[], [], ["dst_1"], ["dst_1"], ["dst_1", "dst_2"], ["dst_1"]],
      ]);
    });
  });

  it.each([
    [{ event: "Signed Up" }, ["rejected", "nowhere", "of-bea"]],
    [{ event: "Signed Up", userId: "bea" }, ["of-bea"]],
    [{ userId: "ada", sourceId: "src_2" }, ["elsewhere"]],
    [{ userId: "ada", since: momentOf(13), until: momentOf(20) }, ["died", "elsewhere"]],
    [{ userId: LONG_USER }, ["long"]],
    // The beginning of a name is no match.
    [{ userId: "ad" }, []],
    [{ event: "Signed" }, []],
  ])("takes %j", async (query, found) => {
    expect(await idsOf(query)).toEqual(found);
  });

  it("goes on from page to page over all that was written, without a gap or a repeat", async () => {
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await search({ limit: "7", sourceId, ...(cursor === null ? {} : { cursor }) });
      expect(page.data.length).toBeLessThanOrEqual(7);
      found.push(...page.data.map(({ messageId }: Found) => messageId));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(new Set(found).size).toBe(found.length);
    expect(found).toHaveLength(38);
    expect(found.slice(0, 4)).toEqual(["rejected", "nowhere", "died", "of-cid"]);
  });

  it("has an event that came again where it was received last, and one whose attempt was late where it was received", async () => {
    const ofEve = { sourceId, userKey: "eve" };
    const late = { ...attemptAt(90, { messageId: "late", ...ofEve }), receivedAtMs: Date.parse(momentOf(40)) };
    await writer.attempts([
      attemptAt(41, { messageId: "again", ...ofEve }),
      attemptAt(42, { messageId: "between", ...ofEve }),
      late,
    ]);
    const again = { cause: "duplicate", userKey: "eve", receivedAtMs: Date.parse(momentOf(43)) } as const;
    await writer.unrouted({
      sourceId,
      unroutedAtMs: Date.parse(momentOf(43)),
      events: [unrouted("again", { ...again, firstOffset: 1 })],
    });
    await eventually(async () => expect(await idsOf({ userId: "eve" })).toEqual(["again", "between", "late"]));
    const first = await search({ userId: "eve", limit: "2" });
    expect(await idsOf({ userId: "eve", limit: "2", cursor: first.nextCursor })).toEqual(["late"]);
  });

  it("refuses a limit above 50 and a cursor that is none", async () => {
    expect((await control.call("GET", "/v1/events?limit=51")).status).toBe(400);
    for (const cursor of ["x", "~", "a~b~c"]) {
      expect((await control.call("GET", `/v1/events?cursor=${cursor}`)).status).toBe(400);
    }
  });

  it("leaves out a user whom a deletion request stopped; the delivery log tells no more who it was", async () => {
    expect(await idsOf({ userId: "cid" })).toEqual(["of-cid"]);
    const listed = async () => (await control.call("GET", "/v1/deliveries?messageId=of-cid")).body.data;
    expect(await listed()).toMatchObject([{ userKey: "cid", event: "Order Completed" }]);
    const deletion = { userId: "cid", sourceIds: [sourceId], suppress: true };
    expect((await control.call("POST", "/v1/deletions", deletion)).status).toBe(202);
    await eventually(async () => expect(await idsOf({ userId: "cid" })).toEqual([]));
    expect(await listed()).toMatchObject([{ messageId: "of-cid", userKey: null, event: null }]);
  });
});

describe("a message id that no path can hold", () => {
  it("is asked for beside the path", async () => {
    await writer.attempts([attemptAt(30, { messageId: "..", sourceId })]);
    await eventually(async () => {
      const { body } = await control.call("GET", "/v1/events/-?messageId=..");
      expect([body.messageId, body.cause]).toEqual(["..", "delivered"]);
    });
  });
});
