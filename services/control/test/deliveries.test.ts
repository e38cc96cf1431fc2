/** Rules: JN3 of projection.ts, M1 and M3 of store.ts, TF3 and TF4 of topic-follower.ts. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attemptAt, createLogWriter, type LogWriter, momentOf } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { remakeTopic } from "@posthaste/testkit/topics";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

describe("the delivery log", () => {
  let topics: TestTopics;
  let control: TestControl;
  let writer: LogWriter;

  beforeAll(async () => {
    topics = await createTestTopics("control");
    writer = await createLogWriter(topics);
    control = await startTestControl(topics);
    await writer.attempts([attemptAt(1), attemptAt(4, { outcome: "retryable", messageId: "message-1", attempt: 2 })]);
    await writer.rubbish();
    await writer.attempts(
      [attemptAt(2, { destinationId: "dst_2" }), attemptAt(3, { destinationId: "dst_2", outcome: "permanent" })],
      1,
    );
    await writer.attempts([attemptAt(5)]);
    await eventually(async () => {
      const { body } = await control.call("GET", "/v1/deliveries");
      expect(body.data).toHaveLength(5);
    });
  });

  afterAll(async () => {
    await control.stop();
    await topics.remove();
  });

  const timesOf = async (query: string): Promise<string[]> => {
    const { status, body } = await control.call("GET", `/v1/deliveries?${query}`);
    expect(status).toBe(200);
    return body.data.map(({ time }: { time: string }) => time);
  };

  it("tells of each attempt what each URL answered, newest first over all partitions", async () => {
    const { body } = await control.call("GET", "/v1/deliveries?limit=2");
    expect(body.data[0]).toEqual({
      time: momentOf(5),
      destinationId: "dst_1",
      sourceId: "src_1",
      messageId: "message-5",
      type: "track",
      event: "Order Completed",
      userKey: "user-7",
      receivedAt: new Date(Date.parse(momentOf(5)) - 250).toISOString(),
      origin: { partition: 1, offset: 5 },
      configOffset: 4,
      record: { delayMs: 0, partition: 2, offset: 105, time: new Date(Date.parse(momentOf(5)) - 200).toISOString() },
      deferrals: 0,
      replayId: null,
      attempt: 1,
      outcome: "delivered",
      urls: [{ url: "https://a.example/hook", status: 200, error: null, durationMs: 12.3, answer: "ok" }],
      followUps: [],
      bodyBytes: 412,
    });
    expect(body.data[1]).toMatchObject({ time: momentOf(4), attempt: 2, outcome: "retryable" });
    expect(await timesOf("")).toEqual([5, 4, 3, 2, 1].map(momentOf));
  });

  it.each([
    ["destinationId=dst_2", [3, 2]],
    ["outcome=delivered", [5, 2, 1]],
    ["destinationId=dst_2&outcome=delivered", [2]],
    ["messageId=message-1", [4, 1]],
    ["messageId=message-1&outcome=retryable&destinationId=dst_1", [4]],
    [`since=${momentOf(2)}&until=${momentOf(4)}`, [3, 2]],
    [`since=${encodeURIComponent(momentOf(4).replace("Z", "+00:00"))}`, [5, 4]],
    ["destinationId=dst_none", []],
    ["type=track&sourceId=src_1&event=Order%20Completed&userId=user-7", [5, 4, 3, 2, 1]],
    ["userId=user-8", []],
    ["type=page", []],
    ["event=Signed%20Up", []],
    ["sourceId=src_2", []],
    ["replayId=rpl_1", []],
    ["attempt=2", [4]],
    ["statusClass=2xx&destinationId=dst_2", [3, 2]],
    ["statusClass=5xx", []],
    ["error=200", []],
    ["error=timeout", []],
  ])("is asked by %s", async (query, expected) => {
    expect(await timesOf(query)).toEqual(expected.map(momentOf));
  });

  it.each(["", "&destinationId=dst_1", "&outcome=delivered", "&messageId=message-1"])(
    "pages through everything once, with %j too",
    async (filter) => {
      const all = await timesOf(filter.slice(1));
      const seen: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const path = `/v1/deliveries?limit=1${filter}${cursor === "" ? "" : `&cursor=${cursor}`}`;
        const { body } = await control.call("GET", path);
        seen.push(...body.data.map(({ time }: { time: string }) => time));
        cursor = body.nextCursor;
      }
      expect(seen).toEqual(all);
    },
  );

  it.each([
    ["outcome=lost", "outcome: expected one of delivered, retryable, permanent"],
    ["since=yesterday", "since: expected a moment such as 2026-11-21T10:00:00Z"],
    ["cursor=abc", expect.stringMatching(/^cursor: expected the nextCursor of this list's page before;/)],
    ["limit=201", "limit: expected a whole number from 1 to 200"],
  ])("refuses %s with what was expected", async (query, detail) => {
    const { status, body } = await control.call("GET", `/v1/deliveries?${query}`);
    expect([status, body.detail]).toEqual([400, detail]);
  });

  it("says whether all was read, in its answers and beside the readiness, which depends on failures alone", async () => {
    await eventually(async () => {
      const { body } = await control.call("GET", "/v1/deliveries");
      expect(body.complete).toBe(true);
      const ready = await control.call("GET", "/readyz");
      expect(ready.body.information).toEqual({ deliveryLog: "up to date", deadLetters: "up to date" });
      expect(ready.body.checks).toMatchObject({ deliveryLog: true });
    });
  });

  it("TF4: a record that cannot be decoded is quarantined and does not stop what follows", () => {
    expect(control.logged()).toContain("record_unreadable");
  });

  it("shows what comes while it is open", async () => {
    await writer.attempts([attemptAt(9, { messageId: "late" })], 1);
    await eventually(async () => expect(await timesOf("messageId=late")).toEqual([momentOf(9)]));
  });
});

describe("the delivery log's cache", () => {
  let topics: TestTopics;
  let writer: LogWriter;
  let dir: string;
  let control: TestControl | null = null;
  /** Each test has its own. */
  let destinationId: string;
  let tests = 0;

  beforeAll(async () => {
    topics = await createTestTopics("control");
    writer = await createLogWriter(topics);
  });

  beforeEach(async () => {
    tests += 1;
    destinationId = `dst_${tests}`;
    dir = await mkdtemp(join(tmpdir(), "posthaste-control-"));
  });

  afterEach(async () => {
    await control?.stop();
    control = null;
    await rm(dir, { recursive: true });
  });

  afterAll(() => topics.remove());

  const start = async (env: Readonly<Record<string, string>> = {}): Promise<TestControl> => {
    control = await startTestControl(topics, { env: { POSTHASTE_CONTROL_DATA_DIR: dir, ...env } });
    return control;
  };

  const write = (...numbers: readonly number[]) => writer.attempts(numbers.map((n) => attemptAt(n, { destinationId })));

  const messages = async (of: TestControl): Promise<string[]> => {
    const { body } = await of.call("GET", `/v1/deliveries?destinationId=${destinationId}`);
    return (body.data ?? []).map(({ messageId }: { messageId: string }) => messageId);
  };

  it("outlives a restart: what the topic no longer has is still shown, and it reads on behind it (M1)", async () => {
    await write(1);
    const first = await start();
    await eventually(async () => expect(await messages(first)).toEqual(["message-1"]));
    await first.stop();
    const topic = topics.names.attempts;
    await withAdmin(async (admin) => {
      // kafkajs forgets to ask for the topic's leaders itself.
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: "-1" }] });
    });
    await write(2);
    const second = await start();
    await eventually(async () => expect(await messages(second)).toEqual(["message-2", "message-1"]));
  });

  it("is made anew when its topic was (TF3)", async () => {
    await write(1);
    await write(2);
    const first = await start();
    await eventually(async () => expect(await messages(first)).toHaveLength(2));
    await first.stop();
    await remakeTopic(topics.names.attempts, { partitions: 2 });
    await eventually(() => write(3));
    const second = await start();
    await eventually(async () => expect(await messages(second)).toEqual(["message-3"]));
  });

  it("is made anew from a file that is no database, and kept in memory beside a process that has it (M3)", async () => {
    await writeFile(join(dir, "delivery-log.sqlite"), "something else altogether ".repeat(100));
    await write(1);
    const first = await start();
    await eventually(async () => expect(await messages(first)).toEqual(["message-1"]));
    expect(first.logged()).toContain("is read anew: file is not a database");
    const second = await startTestControl(topics, { env: { POSTHASTE_CONTROL_DATA_DIR: dir } });
    await eventually(async () => expect(await messages(second)).toEqual(["message-1"]));
    expect(second.logged()).toContain("is kept in memory: database is locked");
    await second.stop();
  });

  it("holds no more attempts than it may, the newest ones, and shows none that is too old (JN3)", async () => {
    const started = await start({ POSTHASTE_DELIVERY_LOG_ENTRIES: "3", POSTHASTE_DELIVERY_LOG_KEEP: "1h" });
    const old = attemptAt(30, { destinationId, startedAtMs: Date.now() - 3_700_000 });
    // Newer than the attempts of other tests.
    await writer.attempts([old, ...[25, 24, 21, 22, 23].map((n) => attemptAt(n, { destinationId }))]);
    await eventually(async () => expect(await messages(started)).toEqual(["message-25", "message-24", "message-23"]));
  });
});
