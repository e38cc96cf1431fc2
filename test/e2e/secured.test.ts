/**
 * All of it over a Kafka that authenticates its clients: each service works with the grants of the access table, needs
 * all of them, and gets nothing else.
 *
 * The tests are one story: the later ones ask the broker's log about the first ones.
 */
import { readFile, stat } from "node:fs/promises";
import { accessTable, KAFKA_USERS, type KafkaUser } from "@posthaste/contracts/access";
import { topicCatalogue } from "@posthaste/contracts/topics";
import type { HealthRecord } from "@posthaste/core/health/health-record";
import { SILENT_LOG } from "@posthaste/core/log";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { followLog } from "@posthaste/kafka/log/log-reader";
import { createProducer } from "@posthaste/kafka/producer/producer";
import { findEventsLog, raiseEventsLog } from "@posthaste/kafka/topics/topic-generation";
import { CONNECT_PATIENCE_MS } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import kafkajs, { type Admin } from "kafkajs";
import { describe, expect, it } from "vitest";
import { keyOf, mayOnTopic, rulesOf } from "./access-rules.ts";
import { sendBatch } from "./calls.ts";
import { loseAndAccept } from "./lost-records.ts";
import { createRoute } from "./route.ts";
import {
  asOperator,
  authorizations,
  installation,
  PARTITIONS,
  RETRY_DELAY_MS,
  receiver,
  secured,
  useSecuredInstallation,
} from "./secured-installation.ts";

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;
const { ConfigResourceTypes, Kafka, logLevel } = kafkajs;
const ARRIVAL = { timeoutMs: 60_000, intervalMs: 100 };

useSecuredInstallation();

const track = (messageId: string) => ({ type: "track", userId: "user", event: "Ordered", messageId });

const send = async (writeKey: string, ...calls: readonly { readonly type: string }[]): Promise<void> =>
  expect(await sendBatch(installation.system.ingestUrl, writeKey, calls)).toBe(200);

describe("with nothing but what is its own", () => {
  it("control starts after a delivery process fell silent two hours ago", async () => {
    const { control, names, system } = installation;
    const openCodec = createOpenCodec({ url: system.stack.schemaRegistry, names });
    const codec = await openCodec<HealthRecord>("destination-health");
    const said: HealthRecord = {
      ...{ instance: "gone", writtenAtMs: Date.now() - 7_200_000, destinationId: null, destination: null },
      process: {
        ...{ startedAtMs: 1, retryDelaysMs: [1000], retryWindowMs: 1000, windowRecords: 1 },
        ...{ logsFailures: true, loggedShare: 1 },
      },
    };
    const topic = names.destinationHealth;
    // A record that comes while control reads was written just now, whatever it says (HB4, HB5 of health-book.ts).
    await system.process("control").stop();
    await asOperator(async (connection) => {
      const producer = await createProducer(connection, { name: "e2e", topics: [topic] });
      await producer.send([{ topic, key: "process:gone", value: codec.encode(said) }]);
      await producer.close();
    });
    await system.process("control").start();
    await eventually(() => control.call("GET", "/v1/sources"), ARRIVAL);
  });

  it("every service does its work: deliveries, retries, dead letters, replays, deletions, audiences", async () => {
    const { control } = installation;
    const route = await createRoute(installation, receiver, "/secured");
    receiver.script(route.path, [{ status: 503 }, { status: 200 }]);
    await send(route.writeKey, track("retried"));
    await eventually(() => expect(receiver.requestsTo(route.path)).toHaveLength(2), ARRIVAL);

    receiver.script(route.path, { status: 410 });
    await send(route.writeKey, track("refused"));
    const { destinationId } = route;
    await eventually(async () => {
      const answer = await control.call("POST", "/v1/replays", { destinationId, dryRun: true });
      expect(answer).toMatchObject({ id: null, matched: 1 });
    }, ARRIVAL);
    receiver.script(route.path, { status: 200 });
    const { id: unaffected } = await control.createSource("suppressed");
    await control.call("POST", "/v1/replays", { destinationId });
    await control.call("POST", "/v1/deletions", { userId: "user", sourceIds: [route.sourceId] });
    await control.call("POST", "/v1/deletions", { userId: "other", sourceIds: [unaffected], suppress: true });
    const { id: audienceId } = (await control.call("POST", "/v1/audiences", {
      name: "Buyers",
      sourceId: unaffected,
    })) as { id: string };
    await control.call("PATCH", `/v1/audiences/${audienceId}/members`, { add: ["user"] });
    // The refused one twice, and the deletion.
    await eventually(() => expect(receiver.requestsTo(route.path).length).toBeGreaterThanOrEqual(5), ARRIVAL);
    await eventually(async () => {
      const { data } = (await control.call("GET", `/v1/deliveries?destinationId=${destinationId}`)) as {
        data: unknown[];
      };
      expect(data.length).toBeGreaterThanOrEqual(5);
    }, ARRIVAL);

    // One of a retry topic and one of the deliveries' own: read, and sent again by hand.
    const { replayId } = (await control.call("POST", "/v1/deliveries/resend", {
      messageId: "retried",
      destinationId,
    })) as {
      readonly replayId: string;
    };
    await eventually(async () => {
      const { data } = (await control.call("GET", `/v1/deliveries?replayId=${replayId}`)) as { data: unknown[] };
      expect(data).toMatchObject([{ messageId: "retried", outcome: "delivered", attempt: 1 }]);
    }, ARRIVAL);
    const record = await control.call("GET", `/v1/deliveries/record?messageId=retried&destinationId=${destinationId}`);
    expect(record).toMatchObject({ replayId, place: { topic: installation.names.deliveries } });

    const unrouted = await control.createSource("without a destination");
    await send(unrouted.writeKey, track("unrouted"), { type: "track" });
    await eventually(async () => {
      const written = (await authorizations()).filter(({ operation }) => operation === "WRITE").map(keyOf);
      const { names } = installation;
      expect(written).toContain(`posthaste-router WRITE Topic:LITERAL:${names.unrouted}`);
      expect(written).toContain(`posthaste-ingest WRITE Topic:LITERAL:${names.rejectedCalls}`);
      expect(written).toContain(`posthaste-ingest WRITE Topic:LITERAL:${names.sourceActivity}`);
    }, ARRIVAL);
  });

  it("what no service can read is quarantined by whoever met it, and produced again to where it was", async () => {
    const { control, names } = installation;
    const ofControl = [
      ...[names.deadLetters, names.attempts, names.unrouted, names.rejectedCalls],
      names.sourceActivity,
    ];
    const read = [names.events, names.deliveries, ...ofControl];
    await asOperator(async (connection) => {
      const producer = await createProducer(connection, { name: "e2e", topics: read });
      await producer.send(read.map((topic) => ({ topic, key: "key", value: Buffer.from("no Avro"), partition: 0 })));
      await producer.close();
    });
    await eventually(async () => {
      const { data } = (await control.call("GET", "/v1/unreadable")) as { data: { topic: string; by: string }[] };
      expect(data.map(({ topic, by }) => `${by} ${topic}`).sort()).toEqual([
        ...ofControl.map((topic) => `control ${topic}`).sort(),
        `delivery ${names.deliveries}`,
        `router ${names.events}`,
      ]);
    }, ARRIVAL);
    expect(await control.call("POST", "/v1/unreadable/reproduce", {})).toEqual({
      matched: 7,
      reproduced: 7,
      refused: 0,
      refusedPlaces: [],
      nextCursor: null,
    });
  });

  it("control compares all topics with the catalogue, and finds nothing wrong with them", async () => {
    await eventually(async () => {
      const { checks } = (await installation.control.call("GET", "/v1/doctor")) as { checks: readonly object[] };
      for (const name of ["services", "brokers", "topics", "registry", "schemas", "groups", "offsets", "clocks"]) {
        expect(checks).toContainEqual({ name, state: "ok", findings: [] });
      }
    }, ARRIVAL);
  });

  it("control finds an event that delivery has not finished", async () => {
    const route = await createRoute(installation, receiver, "/slow");
    receiver.script(route.path, { status: 200, delayMs: 3000 });
    // Another one where it was finished before control was asked.
    await eventually(async () => {
      const before = receiver.requestsTo(route.path).length;
      await send(route.writeKey, track(`slow-${before}`));
      await eventually(() => expect(receiver.requestsTo(route.path).length).toBeGreaterThan(before), ARRIVAL);
      expect(await installation.control.call("GET", `/v1/events/slow-${before}`)).toMatchObject({
        cause: "in_pipeline",
        events: [{ destinations: [{ destinationId: route.destinationId, pipeline: { before: "delivery" } }] }],
      });
    }, ARRIVAL);
  });

  it("a token is made, asks and is revoked", async () => {
    const { control, system } = installation;
    const { id, token } = (await control.call("POST", "/v1/tokens", { name: "reader", scopes: ["read"] })) as {
      readonly id: string;
      readonly token: string;
    };
    const ask = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${system.controlUrl}/v1/sources`, { headers });
      await response.arrayBuffer();
      return response.status;
    };
    expect(await ask()).toBe(200);
    const headers = { authorization: `Bearer ${token}` };
    const scan = await (await fetch(`${system.controlUrl}/v1/events/retried/scan`, { headers })).text();
    expect(scan).toContain("event: done");
    for (const what of ["event", "delivery", "retry", "attempt"]) expect(scan).toContain(`"what":"${what}"`);
    await control.call("DELETE", `/v1/tokens/${id}`);
    expect(await ask()).toBe(401);
  });

  it("the program that makes the topics changes what differs from the catalogue", async () => {
    const { names, system } = installation;
    await asOperator((connection) =>
      connection.withAdmin((admin) =>
        admin.alterConfigs({
          validateOnly: false,
          resources: [
            {
              type: ConfigResourceTypes.TOPIC,
              name: names.unrouted,
              configEntries: [{ name: "retention.ms", value: "1000000" }],
            },
          ],
        }),
      ),
    );
    await system.makeTopics({ POSTHASTE_PARTITIONS: String(PARTITIONS + 1) });
    // A broker tells them a moment after the controller made them.
    await eventually(async () => {
      const topics = await asOperator((connection) =>
        connection.withAdmin(async (admin) => (await admin.fetchTopicMetadata({ topics: [names.unrouted] })).topics),
      );
      expect(topics[0]?.partitions).toHaveLength(PARTITIONS + 1);
    }, ARRIVAL);
  });

  it("control finds an event that the router has not come to", async () => {
    const { control, system } = installation;
    const { writeKey } = await control.createSource("while the router stands");
    await system.process("router").stop();
    await send(writeKey, track("stands"));
    await eventually(
      async () =>
        expect(await control.call("GET", "/v1/events/stands")).toMatchObject({
          cause: "in_pipeline",
          events: [{ pipeline: { before: "router" } }],
        }),
      ARRIVAL,
    );
    await system.process("router").start();
  });

  it("the router writes a topic generation for an events topic that the last was not made for", async () => {
    const { names, system } = installation;
    const router = system.process("router");
    await router.stop();
    const another = "AAAAAAAAAAAAAAAAAAAAAA";
    const before = await asOperator((connection) => raiseEventsLog(connection, names, another));
    await router.start();
    const after = await asOperator((connection) => findEventsLog(connection, names));
    expect(after?.topicGeneration).toBeGreaterThan(before.topicGeneration);
    expect(after?.topicId).not.toBe(another);
  });

  it("delivery goes on without waiting records that were deleted, once somebody accepted the loss", () =>
    asOperator((connection) => loseAndAccept(installation, connection, RETRY_DELAY_MS)));

  it("what a delivery process said of destinations is removed when it was not heard of for an hour", async () => {
    const { names, control } = installation;
    await eventually(
      async () => {
        // A plan wakes the runner, which removes; control says of no process that it is gone in its first minute, which
        // the tests before this one have taken some of.
        await control.call("POST", "/v1/replays", { dryRun: true });
        const written = (await authorizations()).filter(({ operation }) => operation === "WRITE").map(keyOf);
        expect(written).toContain(`posthaste-control WRITE Topic:LITERAL:${names.destinationHealth}`);
      },
      { timeoutMs: 180_000, intervalMs: 5000 },
    );
  }, 200_000);

  it("nothing was denied", async () => {
    expect((await authorizations()).filter(({ isGranted }) => !isGranted)).toEqual([]);
    expect(installation.unexpectedExits).toEqual([]);
  });

  it.each(KAFKA_USERS)("%s needed each of its grants", async (user) => {
    const used = new Set((await authorizations()).map(({ operation, rule }) => `${operation} by ${rule}`));
    const grants = accessTable(installation.names).filter((grant) => grant.user === user);
    expect(grants.flatMap(rulesOf).filter((rule) => !used.has(rule))).toEqual([]);
  });
});

describe("whoever reaches for more is denied it", () => {
  const passwordFile = (user: KafkaUser): string => `${installation.dataDir}/kafka-passwords/${user}`;

  async function loginOf(user: KafkaUser) {
    const password = (await readFile(passwordFile(user), "utf8")).trim();
    return { mechanism: "scram-sha-512", username: user, password } as const;
  }

  async function clientOf(user: KafkaUser) {
    const ca = await readFile(secured.authorityFile, "utf8");
    return new Kafka({
      brokers: [...installation.system.stack.brokers],
      ssl: { ca },
      sasl: await loginOf(user),
      connectionTimeout: CONNECT_PATIENCE_MS,
      logLevel: logLevel.NOTHING,
      retry: { retries: 0 },
    });
  }

  const topics = (): readonly string[] =>
    topicCatalogue({ names: installation.names, partitions: 1, retryDelaysMs: [RETRY_DELAY_MS] }).map(
      ({ name }) => name,
    );

  it.each(KAFKA_USERS)("%s writes to no topic that it was not granted", async (user) => {
    const producer = (await clientOf(user)).producer();
    await producer.connect();
    const table = accessTable(installation.names);
    const others = topics().filter((topic) => !mayOnTopic(table, { user, operation: "write", topic }));
    expect(others.length > 0 || user === "posthaste-control").toBe(true);
    for (const topic of others) {
      const sent = producer.send({ topic, messages: [{ key: "key", value: "value" }] });
      await expect(sent, topic).rejects.toThrow("Not authorized to access topics");
    }
    await producer.disconnect();
  });

  it.each([
    ["posthaste-ingest", "events"],
    ["posthaste-ingest", "deliveries"],
    ["posthaste-ingest", "destinationConfig"],
    ["posthaste-router", "deliveries"],
    ["posthaste-router", "sourceConfig"],
    ["posthaste-delivery", "attempts"],
    ["posthaste-delivery", "events"],
    ["posthaste-topics", "destinationConfig"],
  ] as const)("%s reads nothing of %s", async (user, topicOf) => {
    const topic = installation.names[topicOf];
    const { brokers } = installation.system.stack;
    const tls = { ca: await readFile(secured.authorityFile, "utf8") };
    const connection = connectKafka({ brokers, tls, login: await loginOf(user), clientId: "e2e", log: SILENT_LOG });
    const read: unknown[] = [];
    const ending = new AbortController();
    const following = Array.from({ length: PARTITIONS }, (_, partition) =>
      followLog(connection, {
        topic,
        partition,
        from: "start",
        signal: ending.signal,
        onFailure: () => {},
        onRecords: (records) => void read.push(...records),
      }).catch(() => {}),
    );
    await eventually(async () => {
      const denied = (await authorizations()).filter((each) => !each.isGranted && each.user === user);
      expect(denied.map(({ resource }) => resource)).toContain(`Topic:LITERAL:${topic}`);
    });
    ending.abort();
    await connection.close();
    await Promise.all(following);
    expect(read).toEqual([]);
  });

  it("nobody but the operator changes topics, users or grants, and no service another's group", async () => {
    const { names } = installation;
    const everything = {
      ...{ resourceType: AclResourceTypes.TOPIC, resourceName: "*", resourcePatternType: ResourcePatternTypes.LITERAL },
      ...{ principal: "User:posthaste-ingest", host: "*", operation: AclOperationTypes.ALL },
      permissionType: AclPermissionTypes.ALLOW,
    };
    const attempts: readonly [KafkaUser, string, (admin: Admin) => Promise<unknown>][] = [
      ["posthaste-delivery", "CREATE Topic:LITERAL:new", (admin) => admin.createTopics({ topics: [{ topic: "new" }] })],
      ["posthaste-topics", "CREATE Topic:LITERAL:new", (admin) => admin.createTopics({ topics: [{ topic: "new" }] })],
      [
        "posthaste-topics",
        `DELETE Topic:LITERAL:${names.events}`,
        (admin) => admin.deleteTopics({ topics: [names.events] }),
      ],
      [
        "posthaste-router",
        `DELETE Group:LITERAL:${names.routerGroup}`,
        (admin) => admin.deleteGroups([names.routerGroup]),
      ],
      [
        "posthaste-ingest",
        `DESCRIBE Group:LITERAL:${names.deliveryGroup}`,
        (admin) => admin.fetchOffsets({ groupId: names.deliveryGroup }),
      ],
      ["posthaste-ingest", "ALTER Cluster:LITERAL:kafka-cluster", (admin) => admin.createAcls({ acl: [everything] })],
    ];
    for (const [user, denied, attempt] of attempts) {
      const admin = (await clientOf(user)).admin();
      await admin.connect();
      // Without retries it finds no coordinator before it was told of the brokers.
      await admin.listTopics();
      // Again where a busy broker had not answered: that is no denial.
      await eventually(async () => {
        await expect(attempt(admin), denied).rejects.toThrow();
        const ofUser = (await authorizations()).filter(({ isGranted }) => !isGranted).map(keyOf);
        expect(ofUser).toContain(`${user} ${denied}`);
      });
      await admin.disconnect();
    }
  });

  it("the passwords are their owner's alone to read", async () => {
    for (const user of KAFKA_USERS) expect((await stat(passwordFile(user))).mode & 0o077).toBe(0);
  });
});
