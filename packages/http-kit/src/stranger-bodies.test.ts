import { EventEmitter, once } from "node:events";
import type { IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { SILENT_LOG } from "@posthaste/core/log";
import type { FastifyInstance } from "fastify";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { NOBODY } from "./caller.ts";
import { Problem } from "./problem.ts";
import { createRequestMetrics } from "./request-metrics.ts";
import { defineRoute } from "./route.ts";
import { createServer } from "./server.ts";
import { MAX_IN_ALL, MAX_OF_ADDRESS, MAX_STRANGER_BODY_BYTES, StrangerBodies } from "./stranger-bodies.ts";

const authorization = "Bearer token-of-the-tests";

describe("a server", () => {
  let server: FastifyInstance;
  let sockets: Socket[];
  beforeEach(async () => {
    sockets = [];
    const route = (path: string, operation: string) =>
      defineRoute({
        method: "POST",
        path,
        operation,
        summary: "Takes a text",
        body: { name: "Text", schema: z.object({ text: z.string() }) },
        answer: { status: 200, description: "Its length.", body: { name: "Length", schema: z.int() } },
        handle: async ({ body }) => body.text.length,
      });
    server = createServer({
      ...{ routes: [route("/v1/open", "open"), route("/v1/closed", "closed")], version: "0", examples: {} },
      callers: {
        needs: { open: "none", closed: "read" },
        isStillAllowed: () => true,
        callerOf: ({ authorization: given }) => {
          if (given !== authorization) throw new Problem("unauthorized", "send a token");
          return { ...NOBODY, scopes: ["read"] };
        },
      },
      ...{ metrics: createRequestMetrics(new Registry()), readiness: async () => ({}), isCaughtUp: () => true },
      log: SILENT_LOG,
    });
    await server.listen({ host: "127.0.0.1", port: 0 });
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await server.close();
  });

  const post = (path: string, bytes: number, headers: Record<string, string> = {}) => {
    const { port } = server.server.address() as AddressInfo;
    const body = JSON.stringify({ text: "x".repeat(bytes - 11) });
    return fetch(`http://127.0.0.1:${port}${path}`, {
      ...{ method: "POST", headers: { "content-type": "application/json", ...headers }, body },
    });
  };

  /** Sends the head of a request and a part of its body; `said` resolves with the first piece of the answer. */
  async function begin(head: string, body: string): Promise<{ readonly said: Promise<string> }> {
    const { port } = server.server.address() as AddressInfo;
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => {});
    const said = once(socket, "data").then(([piece]) => String(piece));
    await once(socket, "connect");
    const reached = once(server.server, "request");
    socket.write(`${head}\r\nHost: x\r\nContent-Type: application/json\r\n`);
    socket.write(body);
    await reached;
    return { said };
  }

  it("SG1: reads a small body of a stranger, and a large one of a caller that is known", async () => {
    expect((await post("/v1/open", MAX_STRANGER_BODY_BYTES)).status).toBe(200);
    const refused = await post("/v1/open", MAX_STRANGER_BODY_BYTES + 1);
    expect([refused.status, await refused.json()]).toMatchObject([
      413,
      { detail: `a body has at most ${MAX_STRANGER_BODY_BYTES} bytes here` },
    ]);
    expect((await post("/v1/closed", 500_000, { authorization })).status).toBe(200);
    expect((await post("/v1/closed", 500_000)).status).toBe(401);
  });

  it("SG1: reads no body at a path that does not exist", async () => {
    expect((await post("/v1/nowhere", 500_000, { authorization })).status).toBe(404);
    expect((await post("/v1/nowhere", 500_000)).status).toBe(401);
    const { said } = await begin("POST /v1/nowhere HTTP/1.1", "Content-Length: 1000\r\n\r\nx");
    expect(await said).toContain(" 401 ");
  });

  it.each(["/v1/open", "/v1/closed"])("refuses a body at %s that comes byte by byte", async (path) => {
    const head = `POST ${path} HTTP/1.1\r\nAuthorization: ${authorization}`;
    const { said } = await begin(head, `Transfer-Encoding: chunked\r\n\r\n${"1\r\n{\r\n".repeat(5_000)}`);
    expect(await said).toMatch(/ 400 [\s\S]*too many small pieces/);
  });

  it("SG2: cuts off the oldest body of an address that stalls, and says why", async () => {
    const stalled = await Promise.all(
      Array.from({ length: MAX_OF_ADDRESS }, () => begin("POST /v1/open HTTP/1.1", "Content-Length: 100\r\n\r\nx")),
    );
    expect((await post("/v1/open", 100)).status).toBe(200);
    await begin("POST /v1/open HTTP/1.1", "Content-Length: 100\r\n\r\nx");
    expect(await Promise.race(stalled.map(({ said }) => said))).toMatch(/ 429 [\s\S]*the oldest/);
  });
});

describe("bodies of strangers", () => {
  const bodyOf = () => new EventEmitter() as IncomingMessage;

  it("SG2: are so many of an address and so many in all, and the oldest of them gives way", () => {
    const cut: unknown[] = [];
    const strangers = new StrangerBodies((body) => cut.push(body));
    const first = bodyOf();
    strangers.begin(first, "elsewhere");
    const ofOne = Array.from({ length: MAX_OF_ADDRESS + 2 }, bodyOf);
    for (const body of ofOne) strangers.begin(body, "one");
    expect(cut).toEqual(ofOne.slice(0, 2));
    for (let at = 0; at < MAX_IN_ALL; at++) strangers.begin(bodyOf(), `address ${at}`);
    expect(cut[2]).toBe(first);
    expect(cut).toHaveLength(2 + 1 + MAX_OF_ADDRESS);
  });

  it("SG2: count no longer once they came or their connection closed", () => {
    const cut: unknown[] = [];
    const strangers = new StrangerBodies((body) => cut.push(body));
    for (let time = 0; time < 100; time++) {
      const body = bodyOf();
      strangers.begin(body, "one");
      body.emit(time % 2 === 0 ? "end" : "close");
    }
    expect(cut).toEqual([]);
  });
});
