/** Rule: CT1 of told-counts.ts, over the real broker: what one process counts is told by another. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { schemaRegistryUrl } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ADMIN_TOKEN, startTestControl, type TestControl } from "./control.ts";
import { createLogWriter, deadLetterAt } from "./log-writer.ts";

/** Of a record, in front of what the schema says. */
const UNTOLD_SCHEMA = Buffer.from([0, 0x77, 0x35, 0x94, 7]);

let topics: TestTopics;
let registry: Server;
let first: TestControl;
let other: TestControl;

beforeAll(async () => {
  topics = await createTestTopics("control");
  registry = createServer(async (request, response) => {
    // Whoever counts waits for this one: no count is over before it is given up.
    if (request.url?.includes(`/ids/${UNTOLD_SCHEMA.readUInt32BE(1)}`)) {
      response.writeHead(503).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "GET", url } = request;
    const asked = chunks.length === 0 ? { method } : { method, body: Buffer.concat(chunks) };
    const headers = { "content-type": request.headers["content-type"] ?? "application/json" };
    const answer = await fetch(`${schemaRegistryUrl()}${url}`, { ...asked, headers });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  });
  await once(registry.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  [first, other] = await Promise.all([
    startTestControl(topics, { env: { SCHEMA_REGISTRY_URL: url } }),
    startTestControl(topics, { env: { SCHEMA_REGISTRY_URL: url } }),
  ]);
  await (await createLogWriter(topics)).deadLetters([deadLetterAt(1), deadLetterAt(2)]);
  await topics.producer.send([{ topic: topics.names.deadLetters, key: null, value: UNTOLD_SCHEMA, partition: 0 }]);
});

afterAll(async () => {
  await Promise.all([first.stop(), other.stop()]);
  registry.close();
  await topics.remove();
});

const counting = async (control: TestControl) => (await control.call("GET", "/v1/dead-letters/counting")).body;

/** Asks for a count at the first, which nobody waits for when `signal` says so. */
function count(filter: object, signal: AbortSignal): Promise<unknown> {
  return fetch(`${first.url}/v1/dead-letters/replay`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ dryRun: true, again: true, ...filter }),
    signal,
  }).catch(() => undefined);
}

it("CT1: a count that takes long is told by every process, until it is over", async () => {
  const givenUp = new AbortController();
  const asked = count({ type: "track" }, givenUp.signal);
  await eventually(async () => expect((await counting(first)).data).toMatchObject([{ filter: { type: "track" } }]));
  const behind = count({ type: "page" }, givenUp.signal);
  const told = [
    { purpose: "replay", again: true, filter: { type: "track" }, before: 0, of: expect.any(Number) },
    { purpose: "replay", again: true, filter: { type: "page" }, before: 1, looked: 0, of: null },
  ];
  for (const control of [first, other]) {
    await eventually(async () => {
      expect(await counting(control)).toMatchObject({ data: told, complete: true, asOf: expect.any(String) });
    });
  }
  givenUp.abort();
  await Promise.all([asked, behind]);
  for (const control of [first, other]) {
    await eventually(async () => expect((await counting(control)).data).toEqual([]));
  }
});
