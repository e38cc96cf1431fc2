import { type AddressInfo, connect } from "node:net";
import { PosthasteError } from "@posthaste/core/errors";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { PER_TURN } from "@posthaste/runtime/request-turns";
import type { FastifyInstance } from "fastify";
import { Registry } from "prom-client";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Callers } from "./caller.ts";
import { NOBODY } from "./caller.ts";
import { Problem } from "./problem.ts";
import { createRequestMetrics } from "./request-metrics.ts";
import { defineRoute, StreamedAnswer } from "./route.ts";
import { createServer } from "./server.ts";

const authorization = "Bearer token-of-the-tests";

let server: FastifyInstance;
let registry: Registry;
let logged: Readonly<Record<string, unknown>>[] = [];

afterEach(async () => {
  await server.close();
  logged = [];
});

/** Any holder of the test's token may read, and the operation requires no more. */
function callersOf(operation: string): Callers & { isRevoked: boolean } {
  return {
    isRevoked: false,
    needs: { [operation]: "read" as const },
    isStillAllowed() {
      return !this.isRevoked;
    },
    callerOf: ({ authorization: given }) => {
      if (given !== authorization) throw new Problem("unauthorized", "send a token");
      return { ...NOBODY, scopes: ["read"] };
    },
  };
}

/** Creates a server with one route that answers the result of `handle`, or throws its error. */
function serve(handle: () => unknown, isCaughtUp = true): FastifyInstance {
  registry = new Registry();
  const keep = (fields: Readonly<Record<string, unknown>>) => logged.push(fields);
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
  const schema = z.object({ name: z.string() });
  const route = defineRoute({
    method: "GET",
    path: "/v1/things/{id}",
    operation: "getThing",
    summary: "One thing",
    answer: { status: 200, description: "The thing.", body: { name: "Thing", schema } },
    handle: () => handle() as z.input<typeof schema>,
  });
  server = createServer({
    routes: [route],
    callers: callersOf("getThing"),
    version: "0",
    examples: {},
    log,
    metrics: createRequestMetrics(registry),
    readiness: async () => ({ tables: "reading" }),
    isCaughtUp: () => isCaughtUp,
  });
  return server;
}

const throwing = (error: unknown) => () => {
  throw error;
};

const get = (url = "/v1/things/1") => server.inject({ method: "GET", url, headers: { authorization } });

it.each([
  ["left out", 200, undefined],
  ["an empty object", 200, "{}"],
  ["null", 400, "null"],
  ["a list", 400, "[]"],
])("a body whose members may all be missing, %s, is answered %s", async (_body, status, payload) => {
  const route = defineRoute({
    method: "POST",
    path: "/v1/things/forget",
    operation: "forgetThings",
    summary: "Forgets things",
    body: { name: "Forgotten", schema: z.strictObject({ name: z.string().optional() }) },
    answer: { status: 200, description: "How many.", body: { name: "Count", schema: z.object({ count: z.int() }) } },
    handle: () => Promise.resolve({ count: 0 }),
  });
  server = createServer({
    ...{ routes: [route], callers: callersOf("forgetThings"), version: "0", examples: {}, log: SILENT_LOG },
    ...{ metrics: createRequestMetrics(new Registry()), readiness: async () => ({}), isCaughtUp: () => true },
  });
  const headers = { authorization, "content-type": "application/json" };
  const url = "/v1/things/forget";
  const sent = payload === undefined ? { headers } : { headers, payload };
  expect((await server.inject({ method: "POST", url, ...sent })).statusCode).toBe(status);
});

describe("the server", () => {
  it("lets out of an answer what its schema names and nothing else, and has nobody keep it", async () => {
    serve(() => ({ name: "thing", sharedSecret: "s3cret" }));
    const answer = await get();
    expect(answer.json()).toEqual({ name: "thing" });
    expect(answer.headers["cache-control"]).toBe("no-store");
  });

  it("keeps what an unexpected failure says to the log", async () => {
    serve(throwing(new Error("words with s3cret in them")));
    const answer = await get();
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain("s3cret");
    const { requestId } = answer.json();
    expect(logged).toMatchObject([{ event: "request_failed", requestId, method: "GET", route: "/v1/things/:id" }]);
    expect(await registry.metrics()).toContain("posthaste_control_failures_total 1");
  });

  it("says an answer that does not fit its schema to be a failure of its own", async () => {
    serve(() => ({ name: 7 }));
    expect((await get()).statusCode).toBe(500);
  });

  it.each([
    new PosthasteError("deadline_exceeded", "the brokers: no answer within 10000 ms"),
    new PosthasteError("broker_unavailable", "no broker"),
    new PosthasteError("closed", "the producer is closed"),
  ])("answers 503 with a time to try again for what may pass: $code", async (error) => {
    serve(throwing(error));
    const answer = await get();
    expect(answer.statusCode).toBe(503);
    expect(answer.headers["retry-after"]).toBe("1");
    expect(answer.json()).toMatchObject({ status: 503, detail: error.message });
    expect(await registry.metrics()).toContain("posthaste_control_failures_total 0");
  });

  it("answers 503 until the tables are read, since what they lack would read as missing", async () => {
    serve(() => ({ name: "thing" }), false);
    const answer = await get();
    expect([answer.statusCode, answer.json().detail]).toEqual([
      503,
      "the configuration is still being read: try again soon",
    ]);
  });

  it("says when to ask again while it is not ready", async () => {
    serve(() => ({ name: "thing" }));
    const answer = await get("/readyz");
    expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "1"]);
  });

  it("answers a path that cannot be decoded with a problem like any other", async () => {
    serve(() => ({ name: "thing" }));
    const answer = await get("/v1/things/%E0%A4%A");
    expect(answer.statusCode).toBe(400);
    expect(answer.headers["content-type"]).toBe("application/problem+json");
    expect(answer.json()).toMatchObject({ type: "urn:posthaste:problem:invalid-input", status: 400 });
  });
});

it("a streamed answer begins at once, however long its first bytes take", async () => {
  const found = Promise.withResolvers<void>();
  async function* chunks() {
    await found.promise;
    yield Buffer.from("at last");
  }
  serve(() => new StreamedAnswer({ mediaType: "text/plain", fileName: "things.txt", chunks: chunks() }));
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  const answer = await fetch(`${url}/v1/things/1`, { headers: { authorization }, signal: AbortSignal.timeout(5000) });
  expect([answer.status, answer.headers.get("content-disposition")]).toEqual([
    200,
    'attachment; filename="things.txt"',
  ]);
  found.resolve();
  expect(await answer.text()).toBe("at last");
});

describe("a connection", () => {
  const GET_THING = `GET /v1/things/1 HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`;

  /** A connection that sends so many requests at once, of which none is answered, and how many are begun. */
  async function sendAtOnce(requests: number) {
    const sent = { begun: 0, begunInTurn: 0, isCutOff: false };
    serve(() => {
      sent.begun++;
      return new Promise(() => {});
    });
    await server.listen({ host: "127.0.0.1", port: 0 });
    const { port } = server.server.address() as AddressInfo;
    server.server.prependOnceListener("request", () => {
      setImmediate(() => {
        sent.begunInTurn = sent.begun;
      });
    });
    const socket = connect(port, "127.0.0.1", () => socket.write(GET_THING.repeat(requests)));
    socket.on("error", () => {});
    socket.once("close", () => {
      sent.isCutOff = true;
    });
    return sent;
  }

  it("may have sixteen requests open", async () => {
    const sent = await sendAtOnce(16);
    await expect.poll(() => sent.begun, { timeout: 30_000 }).toBe(16);
    expect(sent.isCutOff).toBe(false);
  });

  it("has few of the requests of a read begun in one turn of the event loop (QT1 of request-turns.ts)", async () => {
    const sent = await sendAtOnce(16);
    await expect.poll(() => sent.begun, { timeout: 30_000 }).toBe(16);
    expect(sent.begunInTurn).toBe(PER_TURN);
  });

  it("is cut off when it has seventeen", async () => {
    const sent = await sendAtOnce(17);
    await expect.poll(() => sent.isCutOff, { timeout: 30_000 }).toBe(true);
  });

  it("is one of a thousand at most, takes so many requests and is not idle for longer than a minute", () => {
    const { maxConnections, maxRequestsPerSocket, timeout } = serve(() => ({ name: "thing" })).server;
    expect({ maxConnections, maxRequestsPerSocket, timeout }).toEqual({
      // One more than stay: for it another is closed.
      maxConnections: 1_001,
      maxRequestsPerSocket: 10_000,
      timeout: 60_000,
    });
  });
});

describe("a route that may last", () => {
  const BODY_TIMEOUT_MS = 200;
  let callers: ReturnType<typeof callersOf>;
  let [began, brokeOff] = [0, 0];

  /** A server whose one route takes JSON and an upload; answers where it listens. */
  async function listen(): Promise<number> {
    [began, brokeOff] = [0, 0];
    callers = callersOf("putThings");
    const schema = z.object({ bytes: z.int() });
    const route = defineRoute({
      method: "PUT",
      path: "/v1/things",
      operation: "putThings",
      summary: "All things",
      body: { name: "Things", schema: z.array(z.string()) },
      upload: {
        mediaType: "application/x-ndjson",
        description: "A thing a line.",
        handle: async ({ chunks }) => {
          let bytes = 0;
          try {
            for await (const chunk of chunks) {
              if (bytes === 0) began += 1;
              bytes += chunk.byteLength;
            }
          } catch (error) {
            brokeOff += 1;
            throw error;
          }
          return { bytes };
        },
      },
      answer: { status: 200, description: "How much there was.", body: { name: "Taken", schema } },
      isLong: true,
      handle: async ({ body }) => ({ bytes: body.length }),
    });
    server = createServer({
      ...{ routes: [route], callers, version: "0", examples: {}, readiness: async () => ({}) },
      ...{
        isCaughtUp: () => true,
        log: SILENT_LOG,
        metrics: createRequestMetrics(new Registry()),
        bodyTimeoutMs: BODY_TIMEOUT_MS,
      },
    });
    await server.listen({ host: "127.0.0.1", port: 0 });
    return (server.server.address() as AddressInfo).port;
  }

  /** Sends a body in two halves, the second after twice the time limit; resolves with the server's answer. */
  async function sendSlowly(port: number, contentType: string, halves: readonly [string, string]): Promise<string> {
    const socket = connect(port, "127.0.0.1");
    const [first, second] = halves;
    let answer = "";
    socket.on("data", (bytes) => {
      answer += bytes.toString();
    });
    // A write onto a connection that is cut off emits an error.
    socket.on("error", () => undefined);
    const ended = new Promise((resolve) => socket.once("close", resolve));
    socket.write(`PUT /v1/things HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: ${authorization}\r\n`);
    socket.write(`content-type: ${contentType}\r\ncontent-length: ${first.length + second.length}\r\n\r\n${first}`);
    await new Promise((resolve) => setTimeout(resolve, 2 * BODY_TIMEOUT_MS));
    socket.write(second);
    await ended;
    return answer;
  }

  it("cuts off a JSON body that is not there in time, as every route does", async () => {
    expect(await sendSlowly(await listen(), "application/json", ['["a"', "]"])).toBe("");
  });

  it("gives an upload the time that it takes", async () => {
    const answer = await sendSlowly(await listen(), "Application/X-NDJSON; charset=utf-8", ['"a"\n', '"b"\n']);
    expect(answer).toContain('{"bytes":8}');
  });

  /** Sends the first bytes of an upload. `answer` is the text so far; `closed` resolves with it at the close. */
  async function beginUpload(port: number) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    let answer = "";
    socket.on("data", (bytes) => {
      answer += bytes.toString();
    });
    const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(answer)));
    socket.write(`PUT /v1/things HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n`);
    socket.write(`content-type: application/x-ndjson\r\ncontent-length: 8\r\n\r\n"a"\n`);
    return { socket, closed, answer: () => answer };
  }

  it("is cut off when its token was revoked meanwhile, and its upload breaks off", async () => {
    const port = await listen();
    const upload = await beginUpload(port);
    await expect.poll(() => began).toBe(1);
    callers.isRevoked = true;
    expect(await upload.closed).toBe("");
    await expect.poll(() => brokeOff).toBe(1);
  });

  it("is one of six at a time; the next is refused before its body is read", async () => {
    const port = await listen();
    const held = await Promise.all(Array.from({ length: 6 }, () => beginUpload(port)));
    await expect.poll(() => began).toBe(6);
    const seventh = await beginUpload(port);
    await expect.poll(() => seventh.answer()).toContain("429 Too Many Requests");
    expect(seventh.answer()).toContain("send it again when one of them has ended");
    expect(began).toBe(6);
    for (const { socket } of [...held, seventh]) socket.destroy();
    await expect.poll(() => brokeOff).toBe(6);
    expect(await sendSlowly(port, "application/x-ndjson", ['"a"\n', '"b"\n'])).toContain('{"bytes":8}');
  });
});
