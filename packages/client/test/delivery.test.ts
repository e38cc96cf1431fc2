/**
 * Calls come to their end exactly once, whatever the server and the program do. Rules: CC1, CC3 and CC5 of client.ts,
 * CQ2, CQ3 and CQ4 of queue.ts.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, type ReceiverOptions, startReceiver } from "@posthaste/testkit/receiver";
import { afterEach, describe, expect, it } from "vitest";
import { Analytics, AnalyticsError, type AnalyticsOptions } from "../src/index.ts";
import { createFakeEnvironment, type FakeEnvironment } from "./support/fake-environment.ts";
import { runProgram } from "./support/program.ts";
import { messages } from "./support/received.ts";

const SUCCESS = { body: '{"success": true}' };
const CALL = { userId: "u1", event: "E" };
const servers: Receiver[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function startServer(script: ReceiverOptions["script"] = SUCCESS): Promise<Receiver> {
  const server = await startReceiver({ script });
  servers.push(server);
  return server;
}

interface Handed {
  readonly delivered: string[];
  readonly errors: { code: string; messages: readonly string[] }[];
}

/** A client whose callbacks write down their arguments. */
function createClient(
  server: Receiver,
  options: Partial<AnalyticsOptions> = {},
  environment: FakeEnvironment = createFakeEnvironment(),
): { client: Analytics; environment: FakeEnvironment; handed: Handed } {
  const handed: Handed = { delivered: [], errors: [] };
  const client = new Analytics(
    {
      writeKey: "KEY",
      endpoint: server.url,
      onSuccess: (calls) => handed.delivered.push(...calls.map(({ messageId }) => messageId)),
      onError: ({ code }, calls) => handed.errors.push({ code, messages: calls.map(({ messageId }) => messageId) }),
      ...options,
    },
    environment,
  );
  return { client, environment, handed };
}

describe("closing", () => {
  it("sends everything that was queued", async () => {
    const server = await startServer();
    const { client, handed } = createClient(server);
    for (let count = 0; count < 1234; count += 1) client.track(CALL);
    await client.close();
    expect(messages(server)).toHaveLength(1234);
    expect(new Set(handed.delivered).size).toBe(1234);
    expect(handed.errors).toEqual([]);
  });

  it("goes on with retries until they succeed", async () => {
    const server = await startServer([{ status: 503 }, { status: 500 }, SUCCESS]);
    const { client, environment, handed } = createClient(server);
    client.track(CALL);
    const closed = client.close();
    await eventually(() => expect(environment.pendingDelaysMs()).toEqual([75, 30_000]));
    environment.advance(75);
    await eventually(() => expect(environment.pendingDelaysMs()).toEqual([150, 29_925]));
    environment.advance(150);
    await closed;
    expect(handed).toEqual({ delivered: ["ph-test-1"], errors: [] });
  });

  it("hands what is left to onError when its time is over, requests in flight too (CQ4)", async () => {
    const server = await startServer({ fault: "hang" });
    const { client, environment, handed } = createClient(server, {
      flushAt: 1,
      maxInFlight: 2,
      closeTimeoutMs: 700,
      requestTimeoutMs: 60_000,
    });
    for (let count = 0; count < 3; count += 1) client.track(CALL);
    await eventually(() => expect(server.requests).toHaveLength(2));
    const closed = client.close();
    environment.advance(700);
    await closed;
    expect(handed.delivered).toEqual([]);
    expect(handed.errors.map(({ code }) => code)).toEqual(["closed", "closed", "closed"]);
    expect(handed.errors.flatMap((error) => error.messages).sort()).toEqual(["ph-test-1", "ph-test-2", "ph-test-3"]);
    expect(server.requests).toHaveLength(2);
  });

  it("hands calls that come later to onError, and throws nothing (CC1)", async () => {
    const server = await startServer();
    const { client, handed } = createClient(server);
    await client.close();
    client.track(CALL);
    await client.close();
    expect(handed.errors).toEqual([{ code: "closed", messages: ["ph-test-1"] }]);
    expect(server.requests).toEqual([]);
  });

  it("twice is once", async () => {
    const server = await startServer();
    const { client } = createClient(server);
    client.track(CALL);
    await Promise.all([client.close(), client.close()]);
    expect(messages(server)).toHaveLength(1);
  });
});

describe("a full queue", () => {
  it("keeps what it has and hands the newest call to onError (CC3)", async () => {
    const server = await startServer([{ status: 503 }, SUCCESS]);
    const { client, environment, handed } = createClient(server, { flushAt: 1, maxInFlight: 1, maxQueueBytes: 550 });
    for (let count = 0; count < 5; count += 1) client.track(CALL);
    expect(handed.errors).toEqual(
      ["ph-test-4", "ph-test-5"].map((messageId) => ({ code: "queue_full", messages: [messageId] })),
    );
    await eventually(() => expect(environment.pendingDelaysMs()).toEqual([75]));
    environment.advance(75);
    await client.flush();
    expect(handed.delivered).toEqual(["ph-test-1", "ph-test-2", "ph-test-3"]);
  });

  it("takes calls again as soon as some came to their end", async () => {
    const server = await startServer();
    const { client, handed } = createClient(server, { maxQueueBytes: 400 });
    for (let round = 0; round < 10; round += 1) {
      client.track(CALL);
      client.track(CALL);
      await client.flush();
    }
    expect(handed.errors).toEqual([]);
    expect(messages(server)).toHaveLength(20);
  });
});

describe("sending", () => {
  it("has at most maxInFlight requests under way, retries included (CQ2)", async () => {
    const server = await startServer([{ status: 503 }, { status: 503 }, { status: 503 }, SUCCESS]);
    const { client, environment } = createClient(server, { flushAt: 1, maxInFlight: 3 });
    for (let count = 0; count < 10; count += 1) client.track(CALL);
    await eventually(() => expect(environment.pendingDelaysMs()).toEqual([75, 75, 75]));
    expect(server.requests).toHaveLength(3);
    environment.advance(75);
    await client.flush();
    expect(new Set(messages(server).map(({ messageId }) => messageId)).size).toBe(10);
  });

  it("keeps batches in order with maxInFlight 1", async () => {
    const server = await startServer();
    const { client } = createClient(server, { flushAt: 7, maxInFlight: 1 });
    for (let count = 0; count < 100; count += 1) client.track({ ...CALL, messageId: `m${count}` });
    await client.flush();
    expect(messages(server).map(({ messageId }) => messageId)).toEqual(Array.from({ length: 100 }, (_, i) => `m${i}`));
  });

  it("holds back every batch for a Retry-After (CQ3)", async () => {
    const server = await startServer([{ status: 429, headers: { "retry-after": "20" } }, SUCCESS]);
    const { client, environment } = createClient(server, { flushAt: 1 });
    client.track(CALL);
    await eventually(() => expect(environment.pendingDelaysMs()).toEqual([20_000]));
    client.track(CALL);
    await eventually(() => expect(environment.pendingDelaysMs()).toEqual([20_000, 20_000]));
    expect(server.requests).toHaveLength(1);
    environment.advance(20_000);
    await client.flush();
    expect(new Set(messages(server).map(({ messageId }) => messageId)).size).toBe(2);
  });

  it("gives up on an answer that takes longer than requestTimeoutMs, and asks again", async () => {
    const server = await startServer([{ fault: "hang" }, { fault: "headers-only" }, SUCCESS]);
    const { client, environment, handed } = createClient(server, { flushAt: 1, requestTimeoutMs: 5000 });
    client.track(CALL);
    for (const delayMs of [75, 150]) {
      await eventually(() => expect(environment.pendingDelaysMs()).toEqual([5000]));
      await eventually(() => expect(server.requests).toHaveLength(delayMs / 75));
      environment.advance(5000);
      await eventually(() => expect(environment.pendingDelaysMs()).toEqual([delayMs]));
      environment.advance(delayMs);
    }
    await client.flush();
    expect(handed).toEqual({ delivered: ["ph-test-1"], errors: [] });
  });

  it("tells the program what broke the connection", async () => {
    const server = await startServer();
    await server.close();
    const errors: AnalyticsError[] = [];
    const { client } = createClient(server, { maxAttempts: 1, onError: (error) => errors.push(error) });
    client.track(CALL);
    await client.flush();
    expect(errors).toMatchObject([{ code: "unavailable", status: undefined, attempts: 1 }]);
    expect(errors[0]?.cause).toBeInstanceOf(Error);
  });

  it("compresses when asked to", async () => {
    const server = await startServer();
    const { client } = createClient(server, { gzip: true });
    for (let count = 0; count < 20; count += 1) client.track({ ...CALL, properties: { text: "x".repeat(1000) } });
    await client.flush();
    expect(server.requests[0]?.headers["content-encoding"]).toBe("gzip");
    expect(server.requests[0]?.body.length).toBeLessThan(2000);
    expect(messages(server)).toHaveLength(20);
  });

  it("sends many batches over the same connections", async () => {
    const sockets = new Set<unknown>();
    const server = createServer((request, response) => {
      sockets.add(request.socket);
      request.resume().on("end", () => response.end(SUCCESS.body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = new Analytics({ writeKey: "KEY", endpoint, flushAt: 1, maxInFlight: 1 }, createFakeEnvironment());
    for (let count = 0; count < 25; count += 1) client.track(CALL);
    await client.close();
    // The second one is opened when a request begins before the runtime has put the first one's connection aside.
    expect(sockets.size).toBeLessThanOrEqual(2);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  });
});

describe("the caller", () => {
  it("may change its objects after the call", async () => {
    const server = await startServer();
    const { client } = createClient(server);
    const properties = { step: 1 };
    client.track({ ...CALL, properties });
    properties.step = 2;
    await client.flush();
    expect(messages(server)[0]?.properties).toEqual({ step: 1 });
  });

  it("hears nothing of a callback that throws, and other calls are not harmed", async () => {
    const server = await startServer([{ status: 400 }, SUCCESS]);
    const { client, environment } = createClient(server, {
      flushAt: 1,
      maxInFlight: 1,
      onError: () => {
        throw new Error("from onError");
      },
      onSuccess: async () => {
        throw new Error("from onSuccess");
      },
    });
    client.track(CALL);
    client.track(CALL);
    await client.flush();
    await eventually(() =>
      expect(environment.warnings).toEqual([
        "analytics: onError failed: Error: from onError",
        "analytics: onSuccess failed: Error: from onSuccess",
      ]),
    );
  });

  it("without onError finds failures on the error stream, one line in ten seconds", async () => {
    const server = await startServer({ status: 400 });
    const { client, environment } = createClient(server, { flushAt: 2, maxInFlight: 1, onError: undefined });
    for (let count = 0; count < 6; count += 1) client.track(CALL);
    await client.flush();
    const line = (count: number) => `analytics: ${count} calls were not delivered: the server answered 400`;
    expect(environment.warnings).toEqual([line(2)]);
    environment.advance(10_000);
    client.track(CALL);
    await client.flush();
    expect(environment.warnings).toEqual([line(2), line(5)]);
  });

  it("gets a typed error for what it did wrong, which leaves no trace", async () => {
    const server = await startServer();
    const { client } = createClient(server);
    expect(() => client.track({ userId: "u1", event: "E", properties: { big: 1n } })).toThrow(AnalyticsError);
    await client.close();
    expect(server.requests).toEqual([]);
  });
});

describe("the process", () => {
  it("is not held open by queued calls or by a client that was not closed (CC5)", async () => {
    const server = await startServer();
    const program = await runProgram(`client.track({ userId: "u1", event: "E" });`, { endpoint: server.url });
    expect(program).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(server.requests).toEqual([]);
  });

  it("is held open by a flush that waits for a retry", async () => {
    const server = await startServer([{ status: 503 }, { status: 503 }, SUCCESS]);
    const lines = `client.track({ userId: "u1", event: "E" }); await client.flush(); console.log("flushed");`;
    const program = await runProgram(lines, { endpoint: server.url });
    expect(program).toEqual({ code: 0, stdout: "flushed\n", stderr: "" });
    expect(server.requests).toHaveLength(3);
  });

  it("is let go when the flush is over", async () => {
    const server = await startServer();
    const { client, environment } = createClient(server);
    client.track(CALL);
    const flushed = client.flush();
    expect(environment.holds()).toBe(1);
    await flushed;
    expect(environment.holds()).toBe(0);
  });
});
