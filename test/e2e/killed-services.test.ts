import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Call, sendBatch } from "./calls.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { createRoute, messageIdsOf } from "./route.ts";

const EVENTS = 2_000;
const BATCH = 20;
/** Longer than a killed member's session (10 s), whose partitions nobody reads until it ends. */
const ARRIVAL = { timeoutMs: 60_000, intervalMs: 100 };

let installation: Installation;
let receiver: Receiver;

beforeAll(async () => {
  // A receiver that takes its time, so that something is always in flight when a service dies.
  [installation, receiver] = await Promise.all([startInstallation(), startReceiver({ script: { delayMs: 5 } })]);
});

afterAll(async () => {
  await installation.close();
  await receiver.close();
  expect(installation.unexpectedExits).toEqual([]);
});

it.each(["ingest", "router", "delivery", "control"])(
  "%s is killed in the middle of 2,000 events and started again: nothing answered 200 is missing",
  async (name) => {
    const route = await createRoute(installation, receiver, `/killed-${name}`);
    const { ingestUrl } = installation.system;
    const service = installation.system.process(name);
    const acknowledged: string[] = [];
    let killed: Promise<void> | undefined;
    for (let first = 0; first < EVENTS; first += BATCH) {
      const batch = Array.from({ length: BATCH }, (_, index): Call & { messageId: string } => ({
        type: "track",
        userId: `user-${(first + index) % 50}`,
        event: "Ordered",
        messageId: `${name}-${first + index}`,
      }));
      if (first === EVENTS / 2) killed = service.kill().then(() => service.start());
      // As a real client does, until it is answered.
      await eventually(async () => expect(await sendBatch(ingestUrl, route.writeKey, batch)).toBe(200), ARRIVAL);
      acknowledged.push(...batch.map((call) => call.messageId));
    }
    await killed;
    await eventually(() => {
      const arrived = messageIdsOf(receiver.requestsTo(route.path));
      expect(acknowledged.filter((messageId) => !arrived.has(messageId))).toEqual([]);
    }, ARRIVAL);
    expect(acknowledged).toHaveLength(EVENTS);
  },
);
