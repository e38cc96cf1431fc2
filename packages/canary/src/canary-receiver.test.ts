import { SILENT_LOG } from "@posthaste/core/log";
import { createRequestMetrics } from "@posthaste/http-kit/request-metrics";
import { createServer } from "@posthaste/http-kit/server";
import { createBodySigner } from "@posthaste/webhook/sign";
import type { FastifyInstance } from "fastify";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CANARY_PATH, serveCanary } from "./canary-receiver.ts";

const ID = "canary-0a1b2c3d-0000-4000-8000-000000000001";
const BODY = JSON.stringify({ version: 1, type: "track", userId: null, anonymousId: ID });

let server: FastifyInstance;
let secret: string | null;
let arrived: string[];

beforeEach(() => {
  secret = "a secret";
  arrived = [];
  server = createServer({
    ...{ routes: [], examples: {}, version: "0", log: SILENT_LOG, isCaughtUp: () => true },
    callers: { needs: () => null, callerOf: () => Promise.reject(new Error("nobody is known")) } as never,
    metrics: createRequestMetrics(new Registry()),
    readiness: async () => ({}),
    addPaths: (to) => serveCanary(to, { secret: () => secret, arrived: (id) => arrived.push(id) }),
  });
});

afterEach(() => server.close());

async function post(payload: string, signature: string | null, type = "application/json"): Promise<number> {
  const signed = signature === null ? {} : { "x-signature": signature };
  const headers = { "content-type": type, ...signed };
  return (await server.inject({ method: "POST", url: CANARY_PATH, payload, headers })).statusCode;
}
const sign = (body: string, by = "a secret") => createBodySigner(by)(Buffer.from(body));

it("takes a signed event, and says so by its id", async () => {
  expect(await post(BODY, sign(BODY))).toBe(204);
  expect(arrived).toEqual([ID]);
});

it("CR1: counts nothing that a stranger sends", async () => {
  expect(await post(BODY, null)).toBe(401);
  expect(await post(BODY, "")).toBe(401);
  expect(await post(BODY, sign(BODY).toUpperCase())).toBe(401);
  expect(await post(BODY, sign(BODY, "another secret"))).toBe(401);
  expect(await post(BODY.replace("canary-0", "canary-1"), sign(BODY))).toBe(401);
  expect(await post("", sign(""))).toBe(401);
  expect(await post("{", "0".repeat(40))).toBe(401);
  secret = null;
  expect(await post(BODY, sign(BODY, ""))).toBe(401);
  expect(arrived).toEqual([]);
});

it("CR2: reads no more of a body than of any stranger's, and no other type", async () => {
  const large = JSON.stringify({ anonymousId: "x".repeat(4096) });
  expect(await post(large, sign(large))).toBe(413);
  expect(await post(BODY, sign(BODY), "text/plain")).toBe(415);
  expect(arrived).toEqual([]);
});
