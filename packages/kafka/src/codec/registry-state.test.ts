import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createTopicNames } from "@posthaste/contracts/topics";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRegistryState } from "./registry-state.ts";

const ID = 41;
let registry: Server;
/** The status of the answer about the subject, and whether the registry knows the id. */
let [status, knows] = [200, true];

beforeAll(async () => {
  registry = createServer((request, response) => {
    request.resume();
    const isId = request.url === `/schemas/ids/${ID}`;
    response.writeHead(isId ? (knows ? 200 : 404) : status, { "content-type": "application/json" });
    response.end(JSON.stringify({ id: ID }));
  });
  await new Promise<void>((resolve) => {
    registry.listen(0, "127.0.0.1", resolve);
  });
});

afterAll(() => {
  registry.closeAllConnections();
  registry.close();
});

const url = () => `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;

it("is well while the registry knows the id that it gave, and lost from then on, whatever it answers of the subject", async () => {
  const look = createRegistryState({ names: createTopicNames(), url: url() });
  expect(await look()).toEqual({ kind: "well" });
  knows = false;
  for (status of [404, 200]) expect(await look()).toEqual({ kind: "lost", id: ID });
  knows = true;
  expect(await look()).toEqual({ kind: "well" });
});

it("is silent, with the reason, where the answer is an error and where there is none", async () => {
  status = 401;
  const look = createRegistryState({ names: createTopicNames(), url: url() });
  expect(await look()).toEqual({ kind: "silent", reason: expect.stringContaining("SCHEMA_REGISTRY_USERNAME") });
  const nobody = createRegistryState({ names: createTopicNames(), url: "http://127.0.0.1:1" });
  expect(await nobody()).toEqual({ kind: "silent", reason: expect.stringContaining("does not answer") });
});
