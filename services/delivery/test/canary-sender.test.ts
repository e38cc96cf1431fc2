import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { canaryIdsOf } from "@posthaste/contracts/canary-ids";
import { testDestination } from "@posthaste/testbed/test-destination";
import type { AttemptReport } from "@posthaste/webhook/report";
import { createWebhookSender } from "@posthaste/webhook/sender";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type DeliverySender, withCanaries } from "../src/attempt/canary-sender.ts";

let server: Server;
let sockets: Set<unknown>;
let origin: string;
let sender: DeliverySender;
let registry: Registry;

beforeEach(async () => {
  sockets = new Set();
  server = createServer((request, response) => {
    sockets.add(request.socket);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  registry = new Registry();
  const denied = { denyNetworks: ["127.0.0.0/8"], ports: [443] };
  sender = withCanaries(createWebhookSender({ ...denied, registry }), [origin], {});
});

afterEach(async () => {
  await sender.close();
  server.closeAllConnections();
  server.close();
});

/** The status of the request, or its error. */
async function send(id: string, url = `${origin}/canary`): Promise<unknown> {
  const destination = testDestination(id, { urls: [{ url, headers: {} }] });
  const report = await new Promise<AttemptReport>((resolve) => {
    const deaf = { onOutcome: () => undefined, onEnd: () => undefined, onSettled: () => undefined };
    sender.attempt(
      { destination, messageId: "m", body: Buffer.from("{}"), attempt: 1 },
      { ...deaf, onFinished: resolve },
    );
  });
  return report.urls[0]?.status ?? report.urls[0]?.error;
}

it("CV1: a canary reaches the origin of the settings, whatever the networks and ports say", async () => {
  expect(await send(canaryIdsOf(origin).destinationId)).toBe(200);
});

it("CV1: no other destination does, and no canary another origin or that of another process", async () => {
  const { destinationId } = canaryIdsOf(origin);
  expect(await send(destinationId)).toBe(200);
  expect(await send("dst_0123456789abcdef")).toBe("address_refused");
  expect(await send(canaryIdsOf("http://127.0.0.1:1").destinationId)).toBe("address_refused");
  expect(await send(destinationId, `${origin.replace("127.0.0.1", "127.0.0.2")}/canary`)).toBe("address_refused");
  expect(sockets.size).toBe(1);
});

it("CV1: nothing passes where the settings name no origin, and a canary counts in no metric of requests", async () => {
  await send(canaryIdsOf(origin).destinationId);
  expect(await registry.metrics()).toContain('posthaste_attempts_total{outcome="delivered",error="none"} 0');
  const usual = createWebhookSender({ registry: new Registry() });
  expect(withCanaries(usual, [], {})).toBe(usual);
  await usual.close();
});
