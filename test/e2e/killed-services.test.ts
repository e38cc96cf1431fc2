/**
 * Services that are killed while events come: each call answered 200 arrives. A delivery process is killed in
 * `test/faults/engine.test.ts` too, which counts the repeats; in the long form each service is killed here.
 */

import { eventually } from "@posthaste/testkit/eventually";
import { expect, it } from "vitest";
import { isLong } from "../faults/form.ts";
import { callsOf, sendUntilTaken } from "./calls.ts";
import { createRoute, messageIdsOf } from "./route.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const EVENTS = isLong ? 4_000 : 1_000;
const BATCH = 20;
const SENDERS = 10;
const SERVICES = ["ingest", "router", "control", ...(isLong ? ["delivery"] : [])];
/** Longer than a killed member's session (10 s), whose partitions nobody reads until it ends. */
const ARRIVAL = { timeoutMs: 60_000, intervalMs: 100 };

// A receiver that takes its time, so that something is always in flight when a service dies.
useInstallation({ script: { delayMs: 5 } });

it.each(SERVICES)(
  `%s is killed in the middle of ${EVENTS} events and started again: nothing answered 200 is missing`,
  survives,
);

async function survives(name: string): Promise<void> {
  const route = await createRoute(installation, receiver, `/killed-${name}`);
  const service = installation.system.process(name);
  const acknowledged: string[] = [];
  let killed: Promise<void> | undefined;
  let first = 0;
  /** One of several senders, so that much is on its way when the service dies. */
  const sendSome = async (): Promise<void> => {
    while (first < EVENTS) {
      const batch = callsOf(name, first, BATCH);
      first += BATCH;
      await sendUntilTaken(installation.system.ingestUrl, route.writeKey, batch);
      acknowledged.push(...batch.map((call) => call.messageId));
      if (acknowledged.length >= EVENTS / 2) killed ??= service.kill().then(() => service.start());
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sendSome));
  await killed;
  await eventually(() => {
    const arrived = messageIdsOf(receiver.requestsTo(route.path));
    expect(acknowledged.filter((messageId) => !arrived.has(messageId))).toEqual([]);
  }, ARRIVAL);
  expect(acknowledged).toHaveLength(EVENTS);
}
