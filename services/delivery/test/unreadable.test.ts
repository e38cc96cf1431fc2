/** Rules: UN1 of unreadable-records.ts, AW2 of awaited-schemas.ts. */
import { randomBytes } from "node:crypto";
import { createDestinationCodec, type DestinationRecord } from "@posthaste/contracts/destination-codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { createSecretBox } from "@posthaste/contracts/secret-box";
import { retryTopicName } from "@posthaste/contracts/topics";
import { decodeUnreadable, type Unreadable } from "@posthaste/contracts/unreadable-headers";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { SILENT_LOG } from "@posthaste/core/log";
import { openPoisonRecords, type PoisonRecords } from "@posthaste/testbed/poison-records";
import { testDestination } from "@posthaste/testbed/test-destination";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DeliveryService, startDelivery } from "../src/app.ts";

const DELAYS_MS = [300];
/** Longer than a test takes on any machine. */
const PATIENT_MS = 3_600_000;
const IMPATIENT_MS = 200;
/** So many of unknown schemas stand one behind another. */
const UNKNOWN = 12;
const secretKey = { id: "k1", key: randomBytes(32) };

let topics: TestTopics;
let poison: PoisonRecords;
let receiver: Receiver;
let service: DeliveryService;
let deliveryOf: (messageId: string) => Delivery;
let encode: (delivery: Delivery) => Buffer;
const quarantined: { readonly value: Buffer; readonly headers: unknown; readonly unreadable: Unreadable | null }[] = [];
const failures: Error[] = [];

beforeAll(async () => {
  [topics, receiver] = await Promise.all([
    createTestTopics("unreadable", { retryDelaysMs: DELAYS_MS }),
    startReceiver(),
  ]);
  const { names, producer, openCodec, follow } = topics;
  poison = await openPoisonRecords(topics);
  await follow<Buffer>(names.unreadable, (value, { headers }) =>
    quarantined.push({ value, headers, unreadable: decodeUnreadable(headers) }),
  );
  const codec = createDestinationCodec(await openCodec<DestinationRecord>("destination"), createSecretBox([secretKey]));
  const urls = [{ url: `${receiver.url}/hook`, headers: {} }];
  const value = codec.encode(testDestination("dst", { urls }));
  await producer.send([{ topic: names.destinationConfig, key: "dst", value, headers: { [REVISION_HEADER]: "1" } }]);
  ({ encode } = await openCodec<Delivery>("delivery"));
  let origins = 0;
  deliveryOf = (messageId) => ({
    ...{ messageId, sourceId: "src", destinationId: "dst", type: "track", receivedAtMs: Date.now(), configOffset: 0 },
    ...{ originIncarnation: 1, originPartition: 0, originOffset: origins++, body: Buffer.from("{}") },
    ...{ event: null, restJson: null },
  });
  service = await start(PATIENT_MS);
});

const start = (unknownSchemaMs: number) =>
  startDelivery({
    ...{ kafka: { brokers: kafkaBrokers() }, schemaRegistry: { url: poison.registryUrl }, topicPrefix: topics.prefix },
    ...{ secretKeys: [secretKey], log: SILENT_LOG, registry: new Registry(), traces: undefined },
    addresses: { allowNetworks: ["127.0.0.0/8"], denyNetworks: [], ports: [] },
    schedule: { delaysMs: DELAYS_MS, windowMs: 60_000 },
    attemptLog: { failures: false, deliveredShare: 0 },
    timing: { unknownSchemaMs, stopDrainMs: 500 },
    onFailure: (reason) => failures.push(reason),
  });

afterAll(async () => {
  await service.stop();
  await topics.remove();
  await Promise.all([poison.close(), receiver.close()]);
});

const isDelivered = (messageId: string) =>
  eventually(() =>
    expect(receiver.requestsTo("/hook").map(({ headers }) => headers["x-message-id"])).toContain(messageId),
  );

const sendTo = (topic: string, values: readonly Buffer[], headers: Readonly<Record<string, string>> = {}) =>
  topics.producer.send(values.map((value) => ({ topic, key: "dst:u", value, headers, partition: 0 })));

describe.each(["deliveries", "retries"])(
  "in the topic of %s a record that nobody can read",
  (where) => {
    const topic = () =>
      where === "retries" ? retryTopicName(topics.names, DELAYS_MS[0] ?? 0) : topics.names.deliveries;

    it("UN1, AW2: is quarantined as it was, of an unknown schema late, and the next is delivered", async () => {
      const before = quarantined.length;
      const never = poison.neverKnown();
      await sendTo(topic(), [poison.rubbish], { attempts: "2", "deadline-ms": "7" });
      await sendTo(topic(), [encode(deliveryOf(`behind-rubbish-${where}`))]);
      await isDelivered(`behind-rubbish-${where}`);
      const asked = poison.schemasAsked();
      const others = Array.from({ length: UNKNOWN - 1 }, () => poison.neverKnown());
      await sendTo(topic(), [never, ...others, encode(deliveryOf(`behind-never-${where}`))]);
      // They wait beside one another: the first is not given up yet.
      await eventually(() => expect(poison.schemasAsked()).toBe(asked + UNKNOWN));
      expect(quarantined).toHaveLength(before + 1);
      await service.stop();
      service = await start(IMPATIENT_MS);
      await isDelivered(`behind-never-${where}`);
      await eventually(() => expect(quarantined).toHaveLength(before + 1 + UNKNOWN));
      const [rubbish, unknown] = quarantined.slice(before);
      const place = { topic: topic(), partition: 0, by: "delivery" };
      expect(rubbish?.unreadable).toMatchObject({ ...place, reason: "not_framed" });
      expect(String(rubbish?.value)).toBe(String(poison.rubbish));
      expect(Object.keys(rubbish?.headers ?? {})).toEqual(expect.arrayContaining(["attempts", "deadline-ms"]));
      expect(unknown?.unreadable).toMatchObject({ ...place, reason: "unknown_schema" });
      expect(unknown?.value.equals(never)).toBe(true);
      expect(failures).toEqual([]);
    });

    it("AW2: is waited for where the registry knows its schema later, and delivered", async () => {
      const before = quarantined.length;
      await sendTo(topic(), [await poison.knownLater("delivery", deliveryOf(`later-${where}`))]);
      const asked = poison.asked();
      await eventually(() => expect(poison.asked()).toBeGreaterThan(asked + 1));
      poison.reveal();
      await isDelivered(`later-${where}`);
      expect(quarantined).toHaveLength(before);
    });
  },
  120_000,
);
