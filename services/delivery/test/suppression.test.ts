/**
 * Suppressions over a real broker and a real receiver: delivery with a current table, and without one. Rule: V6 of
 * suppression-check.ts.
 */
import { SUPPRESSION_LEASE_MS, type Suppression, suppressionKey } from "@posthaste/core/deletion/suppression";
import { SILENT_LOG } from "@posthaste/core/log";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { createProducer } from "@posthaste/kafka/producer/producer";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { openFaultProxy } from "@posthaste/testkit/fault-proxy";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createInstallation, type Installation } from "./installation.ts";

/** The group may have to be joined again. */
const ARRIVAL = { timeoutMs: 80_000, intervalMs: 20 };

let installation: Installation;
let receiver: Receiver;

beforeAll(async () => {
  installation = await createInstallation([60_000]);
  receiver = await startReceiver();
});

afterAll(async () => {
  await installation.remove();
  await receiver.close();
});

/** Writes a suppression as control does; resolves when the brokers have it. */
async function suppress(userId: string): Promise<void> {
  const topic = installation.names.suppressions;
  const connection = connectKafka({ brokers: kafkaBrokers(), clientId: "test", log: SILENT_LOG });
  const producer = await createProducer(connection, { name: "test", topics: [topic] });
  const suppression: Suppression = {
    ...{ sourceId: "src_1", userId, deletionId: "del_1", suppressedAtMs: 1, endsAtMs: null },
  };
  // Delivery reads the keys alone.
  const value = Buffer.from(JSON.stringify(suppression));
  await producer.send([{ topic, key: suppressionKey("src_1", userId), value }]);
  await producer.close();
  await connection.close();
}

const messagesTo = (path: string) => receiver.requestsTo(path).map(({ headers }) => headers["x-message-id"]);

it("V6: cut off from the brokers, sends for as long as the lease, then drops who was suppressed", async () => {
  const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
  const kafka = { brokers: kafkaBrokers(), route: (broker: { host: string; port: number }) => proxy.route(broker) };
  // One at a time, and slowly: the delivery that waits for its permit is in memory when the line is cut.
  const configOffset = await installation.configure("dst_cut", {
    rateLimitPerSecond: 2,
    urls: [{ url: `${receiver.url}/cut`, headers: {} }],
  });
  const service = await installation.startDelivery({ kafka });
  try {
    const drafts = Array.from({ length: 40 }, (_, index) => ({
      ...{ messageId: `cut-${index}`, destinationId: "dst_cut", configOffset },
      user: index % 2 === 0 ? "gone" : `here-${index}`,
      originPartition: index,
    }));
    await installation.send(drafts);
    await eventually(() => expect(messagesTo("/cut").length).toBeGreaterThan(2), ARRIVAL);
    proxy.hold();
    await suppress("gone");
    // As long as control waits before it answers.
    await new Promise((resolve) => setTimeout(resolve, SUPPRESSION_LEASE_MS));
    // A request that began before that on a machine that stood still then is received before this is answered.
    await fetch(`${receiver.url}/marker`);
    const answeredMs = Date.now();
    const before = messagesTo("/cut").length;
    expect(before).toBeLessThan(40);
    await new Promise((resolve) => setTimeout(resolve, 4000));
    expect(messagesTo("/cut").length).toBe(before);
    proxy.release();
    await eventually(() => {
      const dropped = installation.deadLetters.filter(({ reason }) => reason === "suppressed");
      const done = new Set([...messagesTo("/cut"), ...dropped.map(({ messageId }) => messageId)]);
      expect(done.size).toBe(40);
      expect(dropped.length).toBeGreaterThan(0);
    }, ARRIVAL);
    const late = receiver.requestsTo("/cut").filter(({ receivedAtMs }) => receivedAtMs >= answeredMs);
    const gone = drafts.filter(({ user }) => user === "gone").map(({ messageId }) => messageId);
    expect(late.filter(({ headers }) => gone.includes(headers["x-message-id"] ?? ""))).toEqual([]);
    expect(late.length).toBeGreaterThan(0);
    for (const { reason, body } of installation.deadLetters) {
      expect([reason, body.length]).toEqual(["suppressed", 0]);
    }
    const dropped = installation.deadLetters.length;
    // A dead letter is counted when the broker's answer is back; the test may have read it by then.
    await eventually(async () => {
      expect(await service.metric('posthaste_dead_letters_total{reason="suppressed"}')).toBe(dropped);
    });
    expect(service.failures).toEqual([]);
  } finally {
    proxy.release();
    await service.stop();
    await proxy.close();
  }
}, 150_000);
