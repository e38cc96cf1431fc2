/** The short form of `bench/million-calls.ts`. */
import { startReceiver } from "@posthaste/testkit/receiver";
import { expect, it } from "vitest";
import { Analytics } from "../src/index.ts";
import { messages } from "./support/received.ts";

const CALLS = 20_000;

it("loses no call against a server that fails one request in ten", async () => {
  let requests = 0;
  const taken: number[] = [];
  const server = await startReceiver({
    script: ({ body }) => {
      requests += 1;
      if (requests % 20 === 0) return { status: 503 };
      if (requests % 20 === 10) return { fault: "reset" };
      taken.push(
        ...JSON.parse(body.toString("utf8")).batch.map((call: { properties: { n: number } }) => call.properties.n),
      );
      return { body: '{"success": true}' };
    },
  });
  let delivered = 0;
  let handed = 0;
  const client = new Analytics({
    writeKey: "KEY",
    endpoint: server.url,
    flushAt: 100,
    maxQueueBytes: 1024 * 1024,
    onSuccess: (calls) => {
      delivered += calls.length;
    },
    onError: ({ code }, calls) => {
      expect(code).toBe("queue_full");
      handed += calls.length;
    },
  });
  // More at a time than the queue holds, so that its limit is met too.
  for (let n = 0; n < CALLS; ) {
    for (const end = n + 8000; n < end && n < CALLS; n += 1)
      client.track({ userId: "u1", event: "E", properties: { n } });
    await client.flush();
  }
  await client.close();
  expect(delivered + handed).toBe(CALLS);
  expect(handed).toBeGreaterThan(0);
  expect(new Set(taken).size).toBe(delivered);
  expect(taken).toHaveLength(delivered);
  expect(messages(server).length).toBeGreaterThan(delivered);
  await server.close();
});
