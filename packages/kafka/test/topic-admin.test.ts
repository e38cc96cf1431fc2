import { createTopicNames, type TopicNames, type TopicSpec, topicCatalogue } from "@posthaste/contracts/topics";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { openFaultProxy } from "@posthaste/testkit/fault-proxy";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KafkaConnection } from "../src/connection/connect.ts";
import { readTopicId } from "../src/connection/topic-id.ts";
import { createProducer } from "../src/producer/producer.ts";
import {
  applyTopics,
  existingRetryTopics,
  formatDifference,
  planTopics,
  verifyTopics,
} from "../src/topics/topic-admin.ts";
import { type EventsLog, findEventsLog, raiseEventsLog, settleEventsLog } from "../src/topics/topic-generation.ts";
import { describeSettings } from "../src/topics/topic-settings.ts";
import { connectTest } from "./harness.ts";

const REPLICATION = { replicationFactor: 1, minInsyncReplicas: 1 };

describe("topics made to match the catalogue", () => {
  let connection: KafkaConnection;
  let prefix: string;
  let names: TopicNames;

  beforeEach(() => {
    connection = connectTest();
    prefix = uniqueName("topics");
    names = createTopicNames(prefix);
  });
  afterEach(async () => {
    await connection.close();
    await deleteTopics(prefix);
  });

  const catalogueOf = (retryDelaysMs: readonly number[], partitions = 2) =>
    topicCatalogue({ names, partitions, retryDelaysMs });
  const apply = (catalogue: readonly TopicSpec[]) => applyTopics(connection, catalogue, { ...REPLICATION, names });
  const plan = async (catalogue: readonly TopicSpec[]) =>
    (await planTopics(connection, catalogue, REPLICATION)).map(formatDifference);
  /** A broker tells a topic's settings as they were for a moment after the controller has changed them. */
  const untilNothingToDo = (catalogue: readonly TopicSpec[]) =>
    eventually(async () => expect(await plan(catalogue)).toEqual([]));

  it("plans what is missing, makes it, and finds nothing to do the second time", async () => {
    const catalogue = catalogueOf([10_000]);
    expect(await plan(catalogue)).toContain(`+ ${names.events}: 2 partitions, delete`);
    expect(await apply(catalogue)).toHaveLength(catalogue.length);
    await untilNothingToDo(catalogue);
    expect(await apply(catalogue)).toEqual([]);
  });

  it("tells the plan before it changes anything, so that it is known when the changes fail", async () => {
    const reported: string[] = [];
    const failing = applyTopics(connection, catalogueOf([]), {
      names,
      replicationFactor: 3,
      minInsyncReplicas: 2,
      onPlan: (differences) => reported.push(...differences.map(formatDifference)),
    });
    await expect(failing).rejects.toThrow();
    expect(reported).toContain(`+ ${names.events}: 2 partitions, delete`);
    expect(await plan(catalogueOf([]))).toEqual(reported);
  });

  it("grows partitions and changes settings, and keeps those that the catalogue does not name (TA2)", async () => {
    await apply(catalogueOf([]));
    const resource = { type: 2, name: names.events };
    const largestMessage = async () => {
      const { resources } = await connection.withAdmin((admin) =>
        admin.describeConfigs({
          includeSynonyms: false,
          resources: [{ ...resource, configNames: ["max.message.bytes"] }],
        }),
      );
      return resources[0]?.configEntries[0]?.configValue;
    };
    await connection.withAdmin((admin) =>
      admin.alterConfigs({
        validateOnly: false,
        resources: [{ ...resource, configEntries: [{ name: "max.message.bytes", value: "2000000" }] }],
      }),
    );
    await eventually(async () => expect(await largestMessage()).toBe("2000000"));
    const changed = catalogueOf([]).map((spec) =>
      spec.name === names.events ? { ...spec, partitions: 3, retentionMs: 1e9, leastRetentionMs: 8e8 } : spec,
    );
    expect(await plan(changed)).toEqual([
      `~ ${names.events}: partitions 2 -> 3 (keys move: their order starts anew)`,
      `~ ${names.events}: retention.ms 604800000 -> 1000000000`,
    ]);
    await apply(changed);
    await untilNothingToDo(changed);
    expect(await largestMessage()).toBe("2000000");
  });

  it("leaves records as they were sent, on a cluster that compresses too", async () => {
    await createTopic(names.events, { partitions: 2, settings: { "compression.type": "zstd" } });
    expect(await plan(catalogueOf([]))).toContain(`~ ${names.events}: compression.type zstd -> producer`);
    await apply(catalogueOf([]));
    await untilNothingToDo(catalogueOf([]));
    const settings = await connection.withAdmin((admin) => describeSettings(admin, [names.events, names.deliveries]));
    // Said by the topic itself, whatever the cluster's default becomes.
    const given = [...settings.values()].map((each) => each.given.get("compression.type"));
    expect(given).toEqual(["producer", "producer"]);
  });

  it("TA1: takes nothing away: fewer partitions and a shorter schedule change nothing", async () => {
    await apply(catalogueOf([10_000, 30_000], 3));
    const smaller = catalogueOf([10_000], 2);
    const differences = await apply(smaller);
    expect(differences.every(({ kind }) => kind === "report")).toBe(true);
    expect(differences).not.toHaveLength(0);
    // W4: records that wait in a tier that the schedule left are still found.
    expect(await existingRetryTopics(connection, names)).toEqual([
      `${names.retryPrefix}10s`,
      `${names.retryPrefix}30s`,
    ]);
  });

  it("orders retry topics by their delay", async () => {
    await apply(catalogueOf([3_600_000, 10_000, 60_000]));
    expect(await existingRetryTopics(connection, names)).toEqual(
      ["10s", "1m", "1h"].map((delay) => `${names.retryPrefix}${delay}`),
    );
  });

  const settle = () => settleEventsLog(connection, names);
  async function recorded(): Promise<EventsLog> {
    const found = await findEventsLog(connection, names);
    if (found === null) throw new Error("nothing is recorded");
    return found;
  }
  const remakeEvents = async () => {
    await deleteTopics(names.events);
    await eventually(async () =>
      expect(await connection.withAdmin((admin) => admin.listTopics())).not.toContain(names.events),
    );
    await createTopic(names.events, { partitions: 2 });
  };

  it("TA3: makes the topic generation with the events topic, beside the topic's own id, and keeps it", async () => {
    await expect(settle()).rejects.toMatchObject({ code: "topic_missing" });
    await apply(catalogueOf([]));
    const first = await recorded();
    expect(first.topicId).toBe(await readTopicId(connection, names.events));
    await apply(catalogueOf([]));
    expect(await settle()).toEqual(first);
    expect(await recorded()).toEqual(first);
  });

  it("TA3: raises the topic generation before it makes the events topic: a death between leaves none", async () => {
    await apply(catalogueOf([]));
    const first = await recorded();
    await deleteTopics(names.events);
    const failing = catalogueOf([]).map((spec) => (spec.name === names.events ? { ...spec, partitions: -2 } : spec));
    await expect(apply(failing)).rejects.toThrow();
    expect(await recorded()).toMatchObject({ topicId: null });
    expect((await recorded()).topicGeneration).toBeGreaterThan(first.topicGeneration);
  });

  it("IN2: raises the topic generation of an events topic that was recreated behind its back, once", async () => {
    await apply(catalogueOf([]));
    const first = await recorded();
    await remakeEvents();
    const [second, third] = [await settle(), await settle()];
    expect(second.topicGeneration).toBeGreaterThan(first.topicGeneration);
    expect(second.topicId).not.toBe(first.topicId);
    expect(third).toEqual(second);
    expect(await recorded()).toEqual(second);
  });

  it("IN3: is raised by several at once, and stands for the same topic to each", async () => {
    await apply(catalogueOf([]));
    const first = await recorded();
    await remakeEvents();
    const settled = await Promise.all([settle(), settle(), settle()]);
    for (const { topicGeneration, topicId } of settled) {
      expect(topicGeneration).toBeGreaterThan(first.topicGeneration);
      expect(topicId).toBe(settled[0]?.topicId);
    }
    expect(await settle()).toEqual(await recorded());
  });

  it("IN4: is another for each topic's id, though several raise it at the same moment", async () => {
    await apply(catalogueOf([]));
    const nowMs = Date.now() + 60_000;
    for (let round = 0; round < 3; round += 1) {
      const topicIds = ["a", "b", "c", "d"].map((each) => `${each}${round}`.padEnd(22, "0"));
      const raised = await Promise.all(topicIds.map((topicId) => raiseEventsLog(connection, names, topicId, nowMs)));
      expect(new Set(raised.map(({ topicGeneration }) => topicGeneration)).size).toBe(topicIds.length);
      expect(raised.map(({ topicId }) => topicId)).toEqual(topicIds);
    }
  });

  it("IN4: is of the topic that stood beside it first", async () => {
    await apply(catalogueOf([]));
    const first = await raiseEventsLog(connection, names, "first".padEnd(22, "0"));
    const producer = await createProducer(connection, { name: "other", topics: [names.meta] });
    const headers = { revision: String(first.topicGeneration) };
    const value = Buffer.from(`${first.topicGeneration} ${"second".padEnd(22, "0")}`);
    await producer.send([{ topic: names.meta, key: "events-topic-id", value, headers }]);
    await producer.close();
    expect(await recorded()).toEqual(first);
  });

  it("IN2: gives a topic generation without a topic's id, of an earlier version, a successor with one", async () => {
    await apply(catalogueOf([]));
    const raised = await raiseEventsLog(connection, names, null);
    expect((await recorded()).topicId).toBeNull();
    const settled = await settle();
    expect(settled.topicGeneration).toBeGreaterThan(raised.topicGeneration);
    expect(settled.topicId).toBe(await readTopicId(connection, names.events));
  });

  it("IN1: never falls, whoever writes last", async () => {
    await apply(catalogueOf([]));
    const high = await raiseEventsLog(connection, names, null, Date.now() + 3_600_000);
    const producer = await createProducer(connection, { name: "late", topics: [names.meta] });
    const late = { topic: names.meta, key: "events-incarnation", value: Buffer.from("7"), headers: { revision: "7" } };
    await producer.send([late]);
    await producer.close();
    expect((await recorded()).topicGeneration).toBe(high.topicGeneration);
    expect((await raiseEventsLog(connection, names, null)).topicGeneration).toBe(high.topicGeneration + 1);
  });

  it("TA3: makes up for a topic generation that was lost with the meta topic", async () => {
    const catalogue = catalogueOf([]);
    await apply(catalogue);
    await deleteTopics(names.meta);
    await apply(catalogue);
    expect((await settle()).topicGeneration).toBeGreaterThan(0);
  });

  it("can be applied by several processes at once", async () => {
    await Promise.all([apply(catalogueOf([])), apply(catalogueOf([]))]);
    await untilNothingToDo(catalogueOf([]));
  });

  it("verifies that topics exist, naming all that lack", async () => {
    await expect(verifyTopics(connection, [names.events, names.meta])).rejects.toMatchObject({
      code: "topic_missing",
      message: expect.stringContaining(`${names.events}, ${names.meta}`),
    });
    await apply(catalogueOf([]));
    await verifyTopics(connection, [names.events, names.meta]);
  });

  it("verifies as soon as brokers that start later are there", async () => {
    await apply(catalogueOf([]));
    const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    proxy.refuse();
    const lines: unknown[] = [];
    const log: Log = { ...SILENT_LOG, warn: (fields) => lines.push(fields) };
    const late = connectTest({ route: (broker) => proxy.route(broker), log, adminPatienceMs: 100 });
    const verified = verifyTopics(late, [names.events]);
    await eventually(() => expect(lines).toContainEqual(expect.objectContaining({ event: "brokers_unreachable" })));
    proxy.accept();
    await verified;
    await late.close();
    await proxy.close();
  });

  it("W1: gives a record of a retry topic the broker's time, whatever the producer's clock says", async () => {
    await apply(catalogueOf([10_000]));
    const [topic = ""] = await existingRetryTopics(connection, names);
    const producer = await createProducer(connection, { name: "test", topics: [topic] });
    await producer.send([{ topic, key: "k", value: Buffer.from("v") }]);
    await producer.close();
    const { resources } = await connection.withAdmin((admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: 2, name: topic, configNames: ["message.timestamp.type"] }],
      }),
    );
    expect(resources[0]?.configEntries[0]?.configValue).toBe("LogAppendTime");
  });
});
