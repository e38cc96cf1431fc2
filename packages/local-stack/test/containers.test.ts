/**
 * The requests to a container runtime, by a server that stands in for one: it notes the containers that would be made,
 * and makes nothing.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { prepareContainers } from "../src/stack/containers.ts";

let runtime: Server;
/** The bodies of the requests to make a container. */
let asked: string[];

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** There is no container, and anything else that is asked for is there. */
function answerTo(url: string): string {
  return url.includes("/containers/json") ? "[]" : '{"Id":"any"}';
}

beforeEach(async () => {
  asked = [];
  runtime = createServer(async (request, response) => {
    const body = await textOf(request);
    const isCreation = request.url?.includes("/containers/create") === true;
    if (isCreation) asked.push(body);
    response.writeHead(isCreation ? 500 : 200, { "content-type": "application/json" });
    response.end(isCreation ? '{"message":"nothing is made here"}' : answerTo(request.url ?? ""));
  });
  await new Promise<void>((resolve) => runtime.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("DOCKER_HOST", `tcp://127.0.0.1:${(runtime.address() as AddressInfo).port}`);
  // The reaper would be a container more.
  vi.stubEnv("TESTCONTAINERS_RYUK_DISABLED", "true");
});

afterEach(async () => {
  vi.unstubAllEnvs();
  runtime.closeAllConnections();
  await new Promise((resolve) => runtime.close(resolve));
});

it("asks for Kafka's and the registry's ports on 127.0.0.1, where nobody else reaches them", async () => {
  const prepared = await prepareContainers({ dataDir: "/nowhere", env: {}, log: () => {} });
  for (const each of [...prepared.kafka, prepared.registry]) {
    await expect(each?.start()).rejects.toThrow("nothing is made here");
  }
  const { brokers, controllers } = prepared.cluster;
  expect(asked.map((body): unknown => JSON.parse(body).HostConfig.PortBindings)).toEqual([
    {
      "9092/tcp": [{ HostIp: "127.0.0.1", HostPort: portOf(brokers[0]) }],
      "9093/tcp": [{ HostIp: "127.0.0.1", HostPort: portOf(controllers[0]) }],
    },
    { "8080/tcp": [{ HostIp: "127.0.0.1", HostPort: new URL(prepared.schemaRegistry).port }] },
  ]);
});

function portOf(address: string | undefined): string {
  return address?.split(":")[1] ?? "";
}
