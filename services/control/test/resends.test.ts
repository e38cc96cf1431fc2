/** The record behind a delivery, and sending it again by hand: RS1 to RS3 of `resend-routes.ts`. */
import { decodeProgress, encodeProgress, type IncomingHeaders } from "@posthaste/contracts/headers";
import { retryTopicName } from "@posthaste/contracts/topics";
import { encodeHistory } from "@posthaste/core/delivery/attempt-history";
import { type Delivery, type DeliveryProgress, NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { NO_TOPIC_GENERATION } from "@posthaste/core/delivery/origin";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import {
  attemptAt,
  createLogWriter,
  deadLetterAt,
  deferralAt,
  type LogWriter,
  momentOf,
} from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { KeptTraces } from "@posthaste/testkit/kept-traces";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

const RETRY_MS = 10_000;
const DUE_MS = Date.now() + 3_600_000;
const URLS = ["https://a.example/hook", "https://b.example/hook"];

interface Seen {
  readonly delivery: Delivery;
  readonly key: string;
  readonly progress: DeliveryProgress;
  readonly offset: number;
  readonly headers: IncomingHeaders;
}

let topics: TestTopics;
let control: TestControl;
let writer: LogWriter;
let destinationId: string;
let eachId: string;
let sourceId: string;
const [seen, traces]: [Seen[], KeptTraces] = [[], new KeptTraces()];

beforeAll(async () => {
  topics = await createTestTopics("control", { retryDelaysMs: [RETRY_MS] });
  writer = await createLogWriter(topics);
  control = await startTestControl(topics, { traces });
  await topics.follow<Delivery>(topics.names.deliveries, (delivery, { key, headers, offset }) =>
    seen.push({ delivery, key: String(key), progress: decodeProgress(headers), offset, headers }),
  );
  sourceId = (await control.call("POST", "/v1/sources", { name: "Shop", kind: "web" })).body.id;
  destinationId = await makeDestination("any");
  eachId = await makeDestination("each");
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

async function makeDestination(settle: "any" | "each", enabled = true): Promise<string> {
  const urls = URLS.map((url) => ({ url, headers: { "X-Key": "header-value-s3cret" } }));
  const settings = { settle, sharedSecret: "a-secret-of-32-characters-length", urls };
  const input = { type: "Webhooks", name: settle, sourceIds: [], enabled, settings };
  return (await control.call("POST", "/v1/destinations", input)).body.id;
}

/** Writes the router's delivery of the event, and returns the delivery. */
async function routed(messageId: string, differing: Partial<Delivery> = {}): Promise<Delivery> {
  const delivery: Delivery = {
    ...{ messageId, sourceId, destinationId, type: "track", receivedAtMs: 1_764_000_000_000, configOffset: 0 },
    ...{ originIncarnation: 1, originPartition: 1, originOffset: 42, event: "Order Completed", restJson: null },
    body: Buffer.from(`{"body":"of ${messageId}"}`),
    ...differing,
  };
  await write(topics.names.deliveries, delivery);
  return delivery;
}

async function write(topic: string, delivery: Delivery, progress = NO_PROGRESS): Promise<void> {
  const codec = await topics.openCodec<Delivery>("delivery");
  const headers = encodeProgress(progress);
  const key = `${delivery.destinationId}:user-7`;
  await topics.producer.send([{ topic, key, value: codec.encode(delivery), headers, partition: 0 }]);
}

/** Logs the attempt at a delivery, by its offset in partition 0, as the delivery service does. */
async function attempted(delivery: Delivery, n: number, at: Parameters<typeof attemptAt>[1] = {}): Promise<void> {
  const { messageId, destinationId: id, sourceId: source, originPartition, originOffset } = delivery;
  const place = { recordPartition: 0, recordOffset: await offsetOf(messageId) };
  const named = { messageId, destinationId: id, sourceId: source, originPartition, originOffset };
  await writer.attempts([attemptAt(n, { ...named, ...place, ...at })]);
  await known(messageId);
}

interface Shown {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function endOf(topic: string): Promise<number> {
  const ranges = await topicOffsets(topics.connection, topic);
  return ranges.find(({ partition }) => partition === 0)?.end ?? 0;
}

const offsetOf = (messageId: string) =>
  eventually(() => {
    const found = seen.find(({ delivery }) => delivery.messageId === messageId);
    if (found === undefined) throw new Error(`${messageId} is not read yet`);
    return found.offset;
  });

async function known(messageId: string): Promise<void> {
  await eventually(async () => {
    const { body } = await control.call("GET", `/v1/deliveries/latest?messageId=${messageId}`);
    expect(body.complete).toBe(true);
    expect(body.data).not.toEqual([]);
  });
}

const retry = {
  kind: "retry" as const,
  urls: null,
  delayMs: RETRY_MS,
  dueAtMs: DUE_MS,
  deadlineMs: null,
  reason: null,
};
const resend = (messageId: string, to = destinationId) =>
  control.call("POST", "/v1/deliveries/resend", { messageId, destinationId: to });
const read = (messageId: string, of = destinationId, more = "") =>
  control.call("GET", `/v1/deliveries/record?messageId=${messageId}&destinationId=${of}${more}`);
const sentAs = (replayId: string) =>
  eventually(() => {
    const found = seen.find(({ progress }) => progress.replay?.id === replayId);
    if (found === undefined) throw new Error(`${replayId} is not read yet`);
    return found;
  });

describe("a resend", () => {
  it("is a new delivery with key, body and message id of the record, no origin and a new window (RS1)", async () => {
    const delivery = await routed("arrived");
    await attempted(delivery, 1);
    const { status, body } = await resend("arrived");
    expect([status, body]).toEqual([202, { replayId: expect.stringMatching(/^rsd_/), copyWaits: false }]);
    const { key, progress, delivery: again, headers } = await sentAs(body.replayId);
    expect([key, String(headers["traceparent"])]).toEqual([`${destinationId}:user-7`, traces.spans[0]?.traceparent]);
    expect(again).toEqual({ ...delivery, originIncarnation: NO_TOPIC_GENERATION });
    expect(progress).toEqual({ ...NO_PROGRESS, replay: { id: body.replayId, count: 1, from: null } });
  });

  it("is in the audit when it is answered: by hand, by whom (RS2)", async () => {
    await attempted(await routed("audited"), 1);
    const { body } = await resend("audited");
    const audit = await control.call("GET", `/v1/audit?target=${body.replayId}`);
    expect(audit.body.data).toMatchObject([
      {
        ...{ actor: "admin", operation: "resendDelivery", target: body.replayId },
        changes: [
          { field: "messageId", from: null, to: "audited" },
          { field: "destinationId", from: null, to: destinationId },
        ],
      },
    ]);
  });

  it("is told with its event and in its row: by hand, by whom", async () => {
    const delivery = await routed("told");
    await attempted(delivery, 1);
    const { body } = await resend("told");
    const own = { replayId: body.replayId, recordTimestampMs: Date.parse(momentOf(2)) };
    await attempted(delivery, 2, { ...own, recordOffset: 1, startedAtMs: Date.parse(momentOf(3)) });
    await eventually(async () => {
      const { events } = (await control.call("GET", "/v1/events/told")).body;
      expect(events[0].sentByHand).toEqual([{ replayId: body.replayId, by: "admin" }]);
      expect(events[0].timeline).toContainEqual({
        ...{ time: momentOf(2), what: "routed", destinationId },
        ...{ detail: "to be sent again, by hand, by admin", note: body.replayId },
      });
    });
    const rows = (await control.call("GET", "/v1/deliveries/latest?messageId=told")).body.data;
    expect(rows).toMatchObject([
      { replayId: body.replayId, sentBy: "admin" },
      { replayId: null, sentBy: null },
    ]);
  });

  it("leaves a copy that waits for a retry, and says so; its own attempts are counted apart (RS3)", async () => {
    const delivery = await routed("waits");
    const failed = {
      startedAtMs: Date.parse(momentOf(2)),
      urls: [{ url: URLS[0] ?? "", status: 503, error: null, durationMs: 5 }],
    };
    const history = encodeHistory([{ attempt: 1, replayId: null, ...failed }]);
    const waiting = retryTopicName(topics.names, RETRY_MS);
    await write(waiting, delivery, { ...NO_PROGRESS, attempts: 1, windowStartMs: 1, deadlineMs: DUE_MS, history });
    const place = { recordDelayMs: RETRY_MS, recordPartition: 0, recordOffset: 0 };
    await attempted(delivery, 3, { ...place, attempt: 2, outcome: "retryable", followUps: [retry] });
    const { body } = await resend("waits");
    expect(body.copyWaits).toBe(true);
    const { progress } = await sentAs(body.replayId);
    expect(progress).toEqual({ ...NO_PROGRESS, history, replay: { id: body.replayId, count: 1, from: null } });
    const latest = await control.call("GET", "/v1/deliveries/latest?messageId=waits");
    expect(latest.body.data).toMatchObject([{ state: "waiting_retry", attempts: 2 }]);
  });

  it("of a dead letter goes to the URLs that are dead where each is on its own, and names the dead letter", async () => {
    const deadLetter = deadLetterAt(4, {
      ...{ destinationId: eachId, sourceId, messageId: "dead", replays: 2, replayId: "rpl_before" },
      lastAttempt: [{ url: URLS[1] ?? "", status: 503, error: null, durationMs: 5 }],
    });
    await writer.deadLetters([deadLetter]);
    await known("dead");
    const { status, body } = await resend("dead", eachId);
    expect(status).toBe(202);
    const { progress, delivery } = await sentAs(body.replayId);
    expect(progress).toMatchObject({
      ...{ urls: [URLS[1]], attempts: 0, deadlineMs: null },
      replay: { id: body.replayId, count: 3, from: `${topics.names.deadLetters}/0/0` },
    });
    expect(Buffer.from(delivery.body).toString()).toBe('{"n":4}');
  });

  it("of two that ask at once is two, each with an id and an entry in the audit of its own", async () => {
    await attempted(await routed("twice"), 5);
    const answers = await Promise.all([resend("twice"), resend("twice")]);
    const ids = answers.map(({ body }) => body.replayId);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) {
      expect((await sentAs(id)).delivery.messageId).toBe("twice");
      expect((await control.call("GET", `/v1/audit?target=${id}`)).body.data).toHaveLength(1);
    }
  });

  it("is of the newest that is known of the delivery", async () => {
    await attempted(await routed("newest", { body: Buffer.from("old") }), 6);
    await writer.deadLetters([
      deadLetterAt(7, { destinationId, sourceId, messageId: "newest", body: Buffer.from("new") }),
    ]);
    await eventually(async () => {
      const { body } = await control.call("GET", "/v1/dead-letters?limit=1");
      expect(body.data).toMatchObject([{ messageId: "newest" }]);
    });
    const { body } = await resend("newest");
    expect(Buffer.from((await sentAs(body.replayId)).delivery.body).toString()).toBe("new");
  });

  it("is of the attempt that came after a dead letter", async () => {
    const deadLetter = { destinationId, sourceId, messageId: "after-dead", body: Buffer.from("old") };
    await writer.deadLetters([deadLetterAt(2, deadLetter)]);
    await attempted(await routed("after-dead", { body: Buffer.from("new") }), 9);
    await eventually(async () => {
      const logs = ["/v1/deliveries?messageId=after-dead", `/v1/dead-letters?destinationId=${destinationId}`];
      const [attempts, deadLetters] = await Promise.all(logs.map((log) => control.call("GET", log)));
      expect([attempts?.body.data, deadLetters?.body.data]).toMatchObject(
        Array(2).fill(expect.arrayContaining([expect.objectContaining({ messageId: "after-dead" })])),
      );
    });
    const { body } = await resend("after-dead");
    expect(Buffer.from((await sentAs(body.replayId)).delivery.body).toString()).toBe("new");
  });

  it.each([
    ["nobody", 404, /^nothing is logged of nobody for dst_/],
    ["", 400, /^messageId: /],
  ])("of %j is refused", async (messageId, status, detail) => {
    const answer = await resend(messageId);
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringMatching(detail)]);
  });

  it("is refused where another record stands in its place", async () => {
    await attempted(await routed("moved"), 8, { recordOffset: 0 });
    const { status, body } = await resend("moved");
    expect([status, body.detail]).toEqual([409, expect.stringContaining("past its retention")]);
    expect((await read("moved")).status).toBe(404);
  });

  it("is refused while the destination is off, and when it is no more", async () => {
    const id = await makeDestination("any");
    const of = { destinationId: id };
    await attempted(await routed("off", of), 9);
    await control.call("PATCH", `/v1/destinations/${id}`, { enabled: false });
    const off = await resend("off", id);
    expect([off.status, off.body.detail]).toEqual([
      409,
      `off is not sent to ${id} again: ${id} is switched off: turn it on first`,
    ]);
    await control.call("DELETE", `/v1/destinations/${id}`);
    const gone = await resend("off", id);
    expect([gone.status, gone.body.detail]).toEqual([409, `off is not sent to ${id} again: ${id} is no more`]);
    const { body } = await read("off", id);
    expect([body.body, body.requests]).toEqual(['{"body":"of off"}', []]);
  });

  it("is refused where the dead letter was purged, and its record is not shown", async () => {
    await writer.deadLetters([deadLetterAt(10, { destinationId, sourceId, messageId: "purged" })]);
    await known("purged");
    const planned = await control.call("POST", "/v1/dead-letters/purge", { destinationId, dryRun: true });
    await control.call("POST", "/v1/dead-letters/purge", { plan: planned.body.plan });
    for (const answer of [await resend("purged"), await read("purged")]) {
      expect([answer.status, answer.body.detail]).toEqual([409, expect.stringContaining("was purged")]);
    }
  });

  it("is refused for a user whose events a deletion request stopped, and nothing of them is shown", async () => {
    await attempted(await routed("stopped"), 11);
    const { status } = await control.call("POST", "/v1/deletions", { userId: "user-7", suppress: true });
    expect(status).toBe(202);
    const answer = await resend("stopped");
    expect([answer.status, answer.body.detail]).toEqual([
      409,
      expect.stringContaining("a deletion request stopped the user's events"),
    ]);
    const shown = await read("stopped");
    expect([shown.status, JSON.stringify(shown.body)]).toEqual([404, expect.not.stringContaining("Order")]);
    await control.call("DELETE", "/v1/suppressions?userId=user-7");
    await eventually(async () => expect((await resend("stopped")).status).toBe(202));
  });
});

describe("the record behind a delivery", () => {
  it("is told with its body, its place, and headers without what is secret", async () => {
    const delivery = await routed("shown");
    await attempted(delivery, 12);
    const { status, body } = await read("shown");
    expect(status).toBe(200);
    const headers = {
      ...{ "User-Agent": "Posthaste/1.0", "Content-Type": "application/json", "X-Key": "***" },
      ...{ "X-Message-Id": "shown", "X-Attempt": "1", "X-Signature": "***" },
    };
    expect(body).toEqual({
      ...{ messageId: "shown", destinationId, sourceId, type: "track", event: "Order Completed" },
      ...{ receivedAt: new Date(delivery.receivedAtMs).toISOString(), replayId: null, attempts: 0, rest: null },
      place: {
        topic: topics.names.deliveries,
        partition: 0,
        offset: await offsetOf("shown"),
        time: expect.any(String),
      },
      body: '{"body":"of shown"}',
      requests: URLS.map((url) => ({ url, headers })),
    });
    expect(JSON.stringify(body)).not.toContain("s3cret");
  });

  it("is that of one attempt where its record is named, with its number and the URLs that it owed", async () => {
    const delivery = await routed("tried-twice", { destinationId: eachId });
    await attempted(delivery, 4);
    const waiting = retryTopicName(topics.names, RETRY_MS);
    const [url = ""] = URLS;
    const progress = { ...NO_PROGRESS, attempts: 1, urls: [url], windowStartMs: 1, deadlineMs: DUE_MS };
    const offset = await endOf(waiting);
    await write(waiting, delivery, progress);
    await attempted(delivery, 5, { recordDelayMs: RETRY_MS, recordOffset: offset, attempt: 2 });
    const requestsAt = async (record: string) => {
      const { status, body } = await read("tried-twice", eachId, `&record=${record}`);
      expect(status).toBe(200);
      return body.requests.map((each: Shown) => [each.url, each.headers["X-Attempt"]]);
    };
    const first = `0:0:${await offsetOf("tried-twice")}`;
    await eventually(async () => expect(await requestsAt(`${RETRY_MS}:0:${offset}`)).toEqual([[url, "2"]]));
    expect(await requestsAt(first)).toEqual(URLS.map((each) => [each, "1"]));
    const { status, body } = await read("tried-twice", eachId, "&record=0:0:1000000");
    expect([status, body.detail]).toEqual([
      404,
      expect.stringContaining("nothing is logged of the record 0:0:1000000"),
    ]);
    expect((await read("tried-twice", eachId, "&record=newest")).status).toBe(400);
  });

  it("is that of a first deferral where nothing else is known", async () => {
    await routed("deferred");
    const place = { recordPartition: 0, recordOffset: await offsetOf("deferred") };
    await writer.deferrals([
      deferralAt(1, { messageId: "deferred", destinationId, sourceId, dueAtMs: DUE_MS, ...place }),
    ]);
    await known("deferred");
    expect((await read("deferred")).body).toMatchObject({ body: '{"body":"of deferred"}', attempts: 0 });
  });

  it("is past its retention when the topic begins behind it", async () => {
    await attempted(await routed("expired"), 13);
    const offset = (await offsetOf("expired")) + 1;
    const topic = topics.names.deliveries;
    await withAdmin(async (admin) => {
      // kafkajs forgets to ask for the topic's leaders itself.
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(offset) }] });
    });
    const shown = await read("expired");
    expect([shown.status, shown.body.detail]).toEqual([
      404,
      `the record of expired for ${destinationId} is past its retention`,
    ]);
    const answer = await resend("expired");
    expect([answer.status, answer.body.detail]).toEqual([
      409,
      `expired is not sent to ${destinationId} again: its record is past its retention, so that nothing is left to send`,
    ]);
  });
});
