/** Control's search for an event without a log entry: in the topics, before the router or delivery. */
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { Event } from "@posthaste/core/event/event";
import { plainEvent } from "@posthaste/core/event/plain-event";
import { deliveryKey, eventKey } from "@posthaste/core/routing/partition-key";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createWindowedConsumer } from "@posthaste/kafka/consumer/consumer";
import { partitionOf } from "@posthaste/kafka/wire/murmur2";
import { openPipelineSearch, type PipelineSearch } from "@posthaste/pipeline/pipeline-search";
import { unfinishedOfGroups, unfinishedRanges } from "@posthaste/pipeline/unfinished-range";
import { attemptAt, createLogWriter } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

const PARTITIONS = 2;
const STUCK_USER = "ada";

let topics: TestTopics;
let control: TestControl;
let sourceId: string;
let destinationIds: readonly string[];
const finishes: (() => Promise<void>)[] = [];

const partitionOfEvents = (userId: string): number =>
  partitionOf(Buffer.from(eventKey(sourceId, { userId, anonymousId: null, messageId: "" })), PARTITIONS);

async function writeEvents(...events: readonly (readonly [messageId: string, userId: string])[]): Promise<void> {
  const codec = await topics.openCodec<Event>("event");
  for (const [messageId, userId] of events) {
    const event: Event = {
      ...plainEvent({ messageId, sourceId, type: "track", userId, nowMs: Date.now() }),
      event: "Signed Up",
    };
    await topics.producer.send([
      { topic: topics.names.events, key: eventKey(sourceId, event), value: codec.encode(event) },
    ]);
  }
}

async function writeDelivery(messageId: string, destinationId: string, differing: Partial<Delivery> = {}) {
  const codec = await topics.openCodec<Delivery>("delivery");
  const delivery: Delivery = {
    ...{ messageId, sourceId, destinationId, type: "track", receivedAtMs: Date.now(), configOffset: 1000 },
    ...{ originIncarnation: 1, originPartition: 1, originOffset: 900, body: Buffer.from("{}"), event: "Signed Up" },
    restJson: null,
    ...differing,
  };
  const key = deliveryKey(destinationId, { userId: STUCK_USER, anonymousId: null, messageId });
  await topics.producer.send([{ topic: topics.names.deliveries, key, value: codec.encode(delivery) }]);
}

/** A reader of a group that finishes all records but those whose bytes have one of these texts. */
async function readAllBut(
  groupId: string,
  topic: string,
  { stuck, topicId }: { readonly stuck: readonly string[]; readonly topicId?: string },
): Promise<void> {
  const consumer = createWindowedConsumer<Buffer>(topics.connection, {
    groupId,
    topics: [topic],
    topicIds: topicId === undefined ? undefined : new Map([[topic, topicId]]),
    window: { maxRecords: 1000, maxBytes: 1_000_000 },
    take: ({ value }) => value ?? Buffer.alloc(0),
    laneOf: () => null,
    run: (task) => {
      if (!stuck.some((text) => task.item.includes(text))) task.finish();
    },
    onFailure: (reason) => {
      throw reason;
    },
  });
  finishes.push(() => consumer.stop());
  await consumer.start();
}

/** Once the search of it came to its end: on a busy machine the brokers may not answer within its two seconds. */
const verdictOn = (messageId: string, query = "") =>
  eventually(async () => {
    const { status, body } = await control.call("GET", `/v1/events/${encodeURIComponent(messageId)}${query}`);
    expect(status).toBe(200);
    if (body.search !== null) expect(body.search.state).toBe("searched");
    return body;
  });

beforeAll(async () => {
  topics = await createTestTopics("pipeline", { partitions: PARTITIONS });
  control = await startTestControl(topics);
  sourceId = (await control.call("POST", "/v1/sources", { name: "Shop", kind: "server" })).body.id;
  const made: string[] = [];
  for (const name of ["First", "Second"]) {
    const settings = { urls: [{ url: "https://a.example/hook" }] };
    const body = { type: "Webhooks", name, enabled: true, sourceIds: [sourceId], settings };
    made.push((await control.call("POST", "/v1/destinations", body)).body.id);
  }
  destinationIds = made;
});

afterAll(async () => {
  await Promise.all(finishes.map((finish) => finish()));
  await control.stop();
  await topics.remove();
});

describe("an event that nothing is written down of", () => {
  it("waits for the router, which is told with the records before it", async () => {
    await writeEvents(["before-1", STUCK_USER], ["before-2", STUCK_USER], ["waits-for-router", STUCK_USER]);
    const { cause, sentence, events, search } = await verdictOn("waits-for-router");
    expect(cause).toBe("in_pipeline");
    expect(sentence).toMatch(
      /^Not delivered yet: the router is not done with this event of "Shop", 2 records before it in its partition, \d+ s behind\.$/,
    );
    expect(events).toMatchObject([
      {
        ...{ sourceId, userKey: STUCK_USER, event: "Signed Up", type: "track", destinations: [] },
        origin: { partition: partitionOfEvents(STUCK_USER), offset: 2 },
        pipeline: { before: "router", records: 2, seconds: expect.any(Number) },
      },
    ]);
    expect(search).toEqual({ state: "searched", records: 3, stopped: [] });
  });

  it("is looked for in its user's partitions alone where the user is named", async () => {
    const others = Array.from({ length: 50 }, (_, index) => `user-${index}`);
    const other = others.find((each) => partitionOfEvents(each) !== partitionOfEvents(STUCK_USER)) ?? "";
    await writeEvents(["elsewhere", other]);
    expect((await verdictOn("elsewhere", `?userId=${other}`)).search).toMatchObject({ state: "searched", records: 1 });
    expect((await verdictOn("elsewhere", `?userId=${other}&sourceId=${sourceId}`)).cause).toBe("in_pipeline");
    expect((await verdictOn("elsewhere", `?userId=${STUCK_USER}`)).cause).toBe("unknown");
    expect((await verdictOn("elsewhere")).search).toMatchObject({ records: 4 });
  });

  it("is under way no more once the router's commit calls it finished, above the offset too", async () => {
    // Everything of the partition but the first record is finished: the commit stays below it.
    await readAllBut(topics.names.routerGroup, topics.names.events, { stuck: ["before-1"] });
    await eventually(async () => {
      expect((await verdictOn("waits-for-router")).cause).toBe("unknown");
    });
    // Of the other partition the commit may come later.
    await eventually(async () => {
      const { cause, events, search } = await verdictOn("before-1");
      expect([cause, events[0].pipeline.records, search.records]).toEqual(["in_pipeline", 0, 3]);
    });
  });

  it("says what it is at where nothing waits, and where nothing is found", async () => {
    // Before control has read all that was logged, it does not say so.
    await eventually(async () => expect((await verdictOn("never-sent")).complete).toBe(true));
    const { cause, sentence } = await verdictOn("never-sent");
    expect(cause).toBe("unknown");
    expect(sentence).toMatch(/^No event with this ID .*, and none waits for the router or delivery: it never came/);
  });
});

describe("a delivery that nothing is written down of", () => {
  it("waits for delivery", async () => {
    const [first = ""] = destinationIds;
    await writeDelivery("waits-for-delivery", first);
    const { cause, sentence, events } = await verdictOn("waits-for-delivery");
    expect(cause).toBe("in_pipeline");
    expect(sentence).toMatch(
      /^Not delivered to "First" yet: delivery is not done with it, 0 records before it in its partition, \d+ s behind\.$/,
    );
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ pipeline: null, origin: { partition: 1, offset: 900 }, userKey: STUCK_USER });
    expect(events[0].destinations).toMatchObject([
      { destinationId: first, cause: "in_pipeline", pipeline: { before: "delivery", records: 0 } },
      { destinationId: destinationIds[1], cause: "unknown", pipeline: null },
    ]);
    expect(events[0].timeline.map(({ what }: { what: string }) => what)).toEqual(["received", "routed"]);
  });

  it("is one event with what the attempt log has of its other destinations", async () => {
    const [first = "", second = ""] = destinationIds;
    const receivedAtMs = Date.now();
    const origin = { originPartition: 1, originOffset: 901 };
    const log = await createLogWriter(topics);
    const named = { messageId: "half", sourceId, destinationId: first, userKey: STUCK_USER, receivedAtMs };
    await log.attempts([attemptAt(1, { ...named, ...origin })]);
    await writeDelivery("half", second, { ...origin, receivedAtMs });
    await eventually(async () => {
      const { events, search } = await verdictOn("half");
      expect(events).toHaveLength(1);
      expect(events[0].destinations.map((each: { cause: string }) => each.cause)).toEqual(["in_pipeline", "delivered"]);
      // The events were not looked at: it was routed.
      expect(search.stopped).toEqual([]);
    });
    expect((await verdictOn("half", "?sourceId=src_none")).events).toEqual([]);
  });

  it("is under way no more once delivery's commit says so", async () => {
    await readAllBut(topics.names.deliveryGroup, topics.names.deliveries, { stuck: ["half"] });
    await eventually(async () => expect((await verdictOn("waits-for-delivery")).cause).toBe("unknown"));
    expect((await verdictOn("half")).cause).toBe("in_pipeline");
  });
});

describe("the search itself", () => {
  const search = (maxRecords?: number): Promise<PipelineSearch> => {
    const { connection, openCodec, names } = topics;
    const options = { connection, openCodec, names, clock: { nowMs: () => Date.now() }, maxMs: 60_000 };
    return openPipelineSearch(maxRecords === undefined ? options : { ...options, maxRecords });
  };
  const everything = (messageId: string) => ({ messageId, eventKeys: null, deliveryKeys: null });
  const { signal } = new AbortController();

  it("stops after so many records, and says where", async () => {
    const { state, records, stopped } = await (await search(1)).find(everything("half"), signal);
    expect({ state, records }).toEqual({ state: "stopped", records: 1 });
    expect(stopped.length).toBeGreaterThan(0);
    for (const { next, end } of stopped) expect(next).toBeLessThan(end);
  });

  it("takes nothing for finished by the commits of a topic that had the name before", async () => {
    const { connection, names } = topics;
    const reader = { topic: names.events, groupId: `${names.topicPrefix}earlier` };
    await readAllBut(reader.groupId, reader.topic, { stuck: [], topicId: "AAAAAAAAAAAAAAAAAAAAAA" });
    await eventually(async () => {
      const [of] = await connection.withAdmin((admin) =>
        admin.fetchOffsets({ groupId: reader.groupId, topics: [reader.topic] }),
      );
      // Everything is committed: four events.
      expect(of?.partitions.reduce((sum, { offset }) => sum + Number(offset), 0)).toBe(4);
    });
    expect((await unfinishedRanges(connection, reader)).map(({ start }) => start)).toEqual([0, 0]);
  });

  it("tells of all topics of several groups what it tells of each, and asks each group once", async () => {
    const { connection, names } = topics;
    const groups = [
      { groupId: names.routerGroup, topics: [names.events] },
      { groupId: names.deliveryGroup, topics: [names.deliveries, names.deadLetters] },
    ];
    const asked: { readonly groupId: string; readonly topics?: readonly string[] }[] = [];
    const watched: KafkaConnection = {
      ...connection,
      withAdmin: (use) =>
        connection.withAdmin((admin, cluster) => {
          const fetchOffsets: typeof admin.fetchOffsets = (question) => {
            asked.push(question);
            return admin.fetchOffsets(question);
          };
          return use({ ...admin, fetchOffsets }, cluster);
        }),
    };
    const all = await unfinishedOfGroups(watched, groups);
    const each = groups.flatMap(({ groupId, topics: of }) => of.map((topic) => ({ groupId, topic })));
    expect(all).toEqual((await Promise.all(each.map((reader) => unfinishedRanges(connection, reader)))).flat());
    expect(all.some(({ start }) => start > 0)).toBe(true);
    // A question that failed is asked again.
    expect(new Set(asked.map(({ topics: of = [] }) => of.join(" ")))).toEqual(
      new Set(groups.map(({ topics: of }) => of.join(" "))),
    );
  });

  it("serves one after the other, and turns away who would wait for too many", async () => {
    const asked = await search();
    const answers = await Promise.all(Array.from({ length: 7 }, () => asked.find(everything("half"), signal)));
    expect(answers.map(({ state }) => state)).toEqual([...Array(5).fill("searched"), "busy", "busy"]);
    expect((await asked.find(everything("half"), signal)).state).toBe("searched");
  });

  it("ends when its caller leaves, and lets the next one look", async () => {
    const asked = await search();
    const leaving = new AbortController();
    const left = asked.find(everything("half"), leaving.signal);
    const next = asked.find(everything("half"), signal);
    leaving.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    expect((await next).deliveries).toHaveLength(1);
  });
});
