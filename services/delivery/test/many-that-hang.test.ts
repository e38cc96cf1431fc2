/** Few connections and many receivers that accept and say nothing; nothing of theirs times out while a test runs. */

import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInstallation, drafts, type Installation } from "./installation.ts";

const HANGING = 40;
const HEALTHY_DELIVERIES = 60;
/** The defaults, in small. */
const SENDER_LIMITS = { connections: 64, connectionsPerOrigin: 60, headersTimeoutMs: 60_000 };

let installation: Installation;
let receiver: Receiver;
let silent: Silent;

interface Silent {
  readonly port: number;
  readonly sockets: readonly Socket[];
  readonly server: Server;
}

/** Listens on every address of this machine, so that each of 127.0.0.0/8 is a host of its own. */
async function startSilent(): Promise<Silent> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined).resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  return { port: (server.address() as AddressInfo).port, sockets, server };
}

beforeEach(async () => {
  receiver = await startReceiver();
  silent = await startSilent();
  installation = await createInstallation([60_000]);
});

afterEach(async () => {
  for (const socket of silent.sockets) socket.destroy();
  silent.server.close();
  await installation.remove();
  await receiver.close();
});

const connect = (id: string, url: string) => installation.configure(id, { urls: [{ url, headers: {} }] });

describe("a healthy destination", () => {
  it.each([
    ["each on a host of its own", (index: number) => `http://127.0.1.${index}:${silent.port}/`],
    ["at its own host", (index: number) => `${receiver.url}/hang-${index}`],
  ])("I4: gets everything beside many that hang, %s, while nothing is known of anybody yet", async (_, urlOf) => {
    const ids = Array.from({ length: HANGING }, (_, index) => `hang-${index}`);
    for (const id of ids) receiver.script(`/${id}`, { fault: "hang" });
    for (const [index, id] of ids.entries()) await connect(id, urlOf(index));
    const configOffset = await connect("good", `${receiver.url}/good`);
    // Each wants all that a destination gets at first, and all stand before the healthy one.
    await installation.send(ids.flatMap((id) => drafts(id, 10, configOffset)));
    await installation.send(drafts("good", HEALTHY_DELIVERIES, configOffset));
    const delivery = await installation.startDelivery({ senderLimits: SENDER_LIMITS });
    await eventually(() => expect(receiver.requestsTo("/good")).toHaveLength(HEALTHY_DELIVERIES));
    expect(installation.waiting.some(({ messageId }) => messageId.startsWith("good"))).toBe(false);
    expect(await delivery.metric("posthaste_requests_in_flight")).toBeGreaterThanOrEqual(HANGING);
    expect(await delivery.metric('posthaste_attempts_total{outcome="retryable",error="timeout"}')).toBe(0);
    expect(delivery.failures).toEqual([]);
  });
});
