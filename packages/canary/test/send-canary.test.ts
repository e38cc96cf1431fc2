import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sendCanary } from "../src/send-canary.ts";

let status: number;
let bodies: { readonly request: IncomingMessage; readonly body: unknown }[];
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  bodies.push({ request, body: JSON.parse(Buffer.concat(chunks).toString()) });
  response.writeHead(status, { location: "/elsewhere" }).end("{}");
});
let ingestUrl: string;

beforeEach(async () => {
  [status, bodies] = [200, []];
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ingestUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/behind/`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const send = (signal = new AbortController().signal) =>
  sendCanary({ ingestUrl, writeKey: "key", messageId: "canary-1", signal });

it("posts a track with the source's key, and its id where the webhook has it", async () => {
  expect(await send()).toBeNull();
  expect(bodies[0]?.request.url).toBe("/behind/v1/track");
  expect(bodies[0]?.request.headers.authorization).toBe(`Basic ${Buffer.from("key:").toString("base64")}`);
  expect(bodies[0]?.body).toEqual({ messageId: "canary-1", anonymousId: "canary-1", event: "Posthaste canary" });
});

it.each([202, 302, 401, 503])("takes %i for no answer that counts, and follows no redirect", async (answer) => {
  status = answer;
  expect(await send()).toMatch(answer === 302 ? /a redirect/ : new RegExp(`answers ${answer}`));
  expect(bodies).toHaveLength(1);
});

it("says why there is no answer", async () => {
  expect(await send(AbortSignal.abort())).toMatch(/abort/);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(await send()).toMatch(/ECONNREFUSED/);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
