import { createTopicNames, type TopicNames, type TopicSpec, topicCatalogue } from "@posthaste/contracts/topics";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { openFaultProxy } from "@posthaste/testkit/fault-proxy";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KafkaConnection } from "../src/connect.ts";
import { raiseLogId } from "../src/log-id.ts";
import { createProducer } from "../src/producer.ts";
import {
  applyTopics,
  existingRetryTopics,
  formatDifference,
  planTopics,
  readLogId,
  verifyTopics,
} from "../src/topic-admin.ts";
import { describeSettings } from "../src/topic-settings.ts";
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

  it("plans what is missing, makes it, and finds nothing to do the second time", async () => {
    const catalogue = catalogueOf([10_000]);
    expect(await plan(catalogue)).toContain(`+ ${names.events}: 2 partitions, delete`);
    expect(await apply(catalogue)).toHaveLength(catalogue.length);
    expect(await plan(catalogue)).toEqual([]);
    expect(await apply(catalogue)).toEqual([]);
  });

  it("tells the plan before it changes anything, so that it is known when the changes fail", async () => {
    const told: string[] = [];
    const failing = applyTopics(connection, catalogueOf([]), {
      names,
      replicationFactor: 3,
      minInsyncReplicas: 2,
      onPlan: (differences) => told.push(...differences.map(formatDifference)),
    });
    await expect(failing).rejects.toThrow();
    expect(told).toContain(`+ ${names.events}: 2 partitions, delete`);
    expect(await plan(catalogueOf([]))).toEqual(told);
  });

  it("grows partitions and changes settings, and keeps the settings that the catalogue does not name (K2)", async () => {
    await apply(catalogueOf([]));
    const resource = { type: 2, name: names.events };
    await connection.withAdmin((admin) =>
      admin.alterConfigs({
        validateOnly: false,
        resources: [{ ...resource, configEntries: [{ name: "max.message.bytes", value: "2000000" }] }],
      }),
    );
    const changed = catalogueOf([]).map((spec) =>
      spec.name === names.events ? { ...spec, partitions: 3, retentionMs: 1_000_000 } : spec,
    );
    expect(await plan(changed)).toEqual([
      `~ ${names.events}: partitions 2 -> 3 (keys move: their order starts anew)`,
      `~ ${names.events}: retention.ms 604800000 -> 1000000`,
    ]);
    await apply(changed);
    expect(await plan(changed)).toEqual([]);
    const { resources } = await connection.withAdmin((admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ ...resource, configNames: ["max.message.bytes"] }],
      }),
    );
    expect(resources[0]?.configEntries[0]?.configValue).toBe("2000000");
  });

  it("leaves records as they were sent, on a cluster that compresses too", async () => {
    await createTopic(names.events, { partitions: 2, settings: { "compression.type": "zstd" } });
    expect(await plan(catalogueOf([]))).toContain(`~ ${names.events}: compression.type zstd -> producer`);
    await apply(catalogueOf([]));
    const settings = await connection.withAdmin((admin) => describeSettings(admin, [names.events, names.deliveries]));
    // Said by the topic itself, whatever the cluster's default becomes.
    const given = [...settings.values()].map((each) => each.given.get("compression.type"));
    expect(given).toEqual(["producer", "producer"]);
  });

  it("K1: takes nothing away: fewer partitions and a shorter schedule change nothing", async () => {
    await apply(catalogueOf([10_000, 30_000], 3));
    const smaller = catalogueOf([10_000], 2);
    const differences = await apply(smaller);
    expect(differences.every(({ kind }) => kind === "report")).toBe(true);
    expect(differences).not.toHaveLength(0);
    // W4: what waits in the tier that the schedule left is still found.
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

  it("K3: makes the log id with the events topic, keeps it, and makes a higher one when it is raised", async () => {
    await expect(readLogId(connection, names)).rejects.toMatchObject({ code: "topic_missing" });
    await apply(catalogueOf([]));
    const first = await readLogId(connection, names);
    await apply(catalogueOf([]));
    expect(await readLogId(connection, names)).toBe(first);
    expect(await raiseLogId(connection, names)).toBeGreaterThan(first);
    expect(await readLogId(connection, names)).toBeGreaterThan(first);
  });

  it("K3: makes up for a log id that an earlier run did not come to write", async () => {
    const catalogue = catalogueOf([]);
    await apply(catalogue);
    await deleteTopics(names.meta);
    await apply(catalogue);
    expect(await readLogId(connection, names)).toBeGreaterThan(0);
  });

  it("can be applied by several processes at once", async () => {
    await Promise.all([apply(catalogueOf([])), apply(catalogueOf([]))]);
    expect(await plan(catalogueOf([]))).toEqual([]);
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
