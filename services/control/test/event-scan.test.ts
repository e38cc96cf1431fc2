/** The scan of the topics themselves for a message id, over everything that a service may have written of it. */

import { retryTopicName } from "@posthaste/contracts/topics";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { Event } from "@posthaste/core/event/event";
import { plainEvent } from "@posthaste/core/event/plain-event";
import { shortName } from "@posthaste/core/routing/short-name";
import { attemptAt, createLogWriter, deadLetterAt, deferralAt, momentOf } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_TOKEN, startTestControl, type TestControl } from "./control.ts";

const RETRY_MS = 10_000;
const OTHERS = 5000;
/** The user of the records. A topic name ends in hexadecimal digits, so it has these letters never by chance. */
const USER = "lovelace";
const LONG_ID = `long-${"x".repeat(400)}`;

let topics: TestTopics;
let control: TestControl;

interface Step {
  readonly name: string;
  readonly data: Record<string, unknown>;
}

const open = (path: string) => fetch(`${control.url}${path}`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });

async function scan(messageId: string, query = ""): Promise<readonly Step[]> {
  const response = await open(`/v1/events/${encodeURIComponent(messageId)}/scan${query}`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  return (await response.text())
    .trimEnd()
    .split("\n\n")
    .map((text) => {
      const [, name = "", data = ""] = /^event: (\w+)\ndata: (.*)$/.exec(text) ?? [];
      return { name, data: JSON.parse(data) };
    });
}

beforeAll(async () => {
  topics = await createTestTopics("event-scan", { retryDelaysMs: [RETRY_MS] });
  const { names, producer } = topics;
  const [events, deliveries] = await Promise.all([
    topics.openCodec<Event>("event"),
    topics.openCodec<Delivery>("delivery"),
  ]);
  const event = (messageId: string) =>
    events.encode(plainEvent({ messageId, sourceId: "src_1", type: "track", userId: USER, nowMs: 1_700_000_000_000 }));
  const delivery = (messageId: string) =>
    deliveries.encode({
      ...{ messageId, sourceId: "src_1", destinationId: "dst_1", type: "track", receivedAtMs: 1, configOffset: 3 },
      ...{ originIncarnation: 1, originPartition: 1, originOffset: 9, body: Buffer.from("{}"), event: null },
      restJson: null,
    });
  await producer.send(
    Array.from({ length: OTHERS }, (_, n) => ({ topic: names.events, key: `k${n}`, value: event(`other-${n}`) })),
  );
  await producer.send([
    { topic: names.events, key: USER, value: event("sought"), partition: 1 },
    // Its bytes hold the id and it is another's.
    { topic: names.events, key: USER, value: event("sought-not") },
    { topic: names.events, key: USER, value: Buffer.from("sought, and no Avro"), partition: 0 },
    { topic: names.deliveries, key: `dst_1:${USER}`, value: delivery("sought") },
    { topic: retryTopicName(names, RETRY_MS), key: `dst_1:${USER}`, value: delivery("sought") },
    { topic: names.events, key: USER, value: event("..") },
  ]);
  const log = await createLogWriter(topics);
  await log.attempts([attemptAt(1), attemptAt(2, { messageId: "sought" })]);
  await log.deferrals([deferralAt(3, { messageId: "sought" })]);
  await log.deadLetters([deadLetterAt(4, { messageId: "sought" })]);
  const left = { userKey: null, event: null, receivedAtMs: null, configOffset: null, destinationIds: [] };
  const ofRepeat = {
    type: "track" as const,
    originPartition: 0,
    originOffset: 1,
    firstOffset: null,
    integration: null,
  };
  await log.unrouted({
    ...{ sourceId: "src_1", unroutedAtMs: Date.parse(momentOf(5)) },
    events: [{ ...ofRepeat, ...left, messageId: "sought", cause: "duplicate" }],
  });
  const call = { rejectedAtMs: Date.parse(momentOf(6)), code: "missing_user", message: "", callJson: "{}", index: 0 };
  const ofNobody = { userKey: null, event: null, single: true };
  await log.rejectedCalls({
    sourceId: "src_1",
    calls: [
      { ...call, ...ofNobody, messageId: "sought" },
      { ...call, ...ofNobody, messageId: shortName(LONG_ID) },
    ],
  });
  control = await startTestControl(topics);
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

describe("a scan", () => {
  it("finds everything that the topics hold under a message id, and says how far it is", async () => {
    const steps = await scan("sought");
    const finds = steps.filter(({ name }) => name === "find").map(({ data }) => data);
    expect(finds.map(({ what, detail }) => [what, detail])).toEqual([
      ["event", "track"],
      ["delivery", null],
      ["retry", null],
      ["attempt", "try 1, delivered"],
      ["deferral", "breaker_open"],
      ["dead_letter", "window_expired"],
      ["unrouted", "duplicate"],
      ["rejected_call", "missing_user"],
    ]);
    const { names } = topics;
    expect(finds[0]).toEqual({
      ...{ topic: names.events, partition: 1, offset: expect.any(Number), time: "2023-11-14T22:13:20.000Z" },
      ...{ what: "event", sourceId: "src_1", destinationId: null, detail: "track" },
    });
    expect(finds[2]).toMatchObject({ topic: retryTopicName(names, RETRY_MS), destinationId: "dst_1" });
    expect(steps[0]).toMatchObject({ name: "progress", data: { records: 0, finds: 0 } });
    const last = steps.at(-1);
    expect(last?.name).toBe("done");
    expect(last?.data).toMatchObject({ finds: 8, records: last?.data["of"] });
    expect(Number(last?.data["of"])).toBeGreaterThan(OTHERS);
  });

  it("tells nothing of whose it is", async () => {
    const text = await (await open("/v1/events/sought/scan")).text();
    expect(text).not.toContain(USER);
  });

  it.each([
    [LONG_ID, ""],
    ["-", "?messageId=.."],
  ])("finds %s%s", async (messageId, query) => {
    expect((await scan(messageId, query)).filter(({ name }) => name === "find")).toHaveLength(1);
  });

  it("finds nothing of what is not there", async () => {
    const steps = await scan("never-sent");
    expect(steps.at(-1)).toMatchObject({ name: "done", data: { finds: 0 } });
    expect(steps.filter(({ name }) => name === "find")).toEqual([]);
  });
});
