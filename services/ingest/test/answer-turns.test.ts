/**
 * Answers that wait for their turn (answer-turns.ts), over real sockets: by the gateway's clock each takes a round's
 * time, and the rounds are held back until a test has done its steps.
 */
import { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { SILENT_LOG } from "@posthaste/core/log";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ANSWERS_ROUND_MS } from "../src/limits.ts";
import { openSocket, readResponse, toRequestBytes } from "./raw-request.ts";
import { RECEIVED_AT_MS, SOURCE, startTestGateway, type TestGateway, WRITE_KEY } from "./test-gateway.ts";

const OTHER_KEY = "wk-other";
const CALL = { type: "track", userId: "u", event: "E" };
const BODY = JSON.stringify(CALL);
const NO_CALL = JSON.stringify({ batch: [CALL, 1] });

let gateway: TestGateway;
let acknowledge: () => void;
let logged: unknown[];
let sockets: Socket[];
beforeEach(async () => {
  let nowMs = 0;
  const monotonicMs = () => {
    nowMs += ANSWERS_ROUND_MS;
    return nowMs;
  };
  [logged, sockets] = [[], []];
  gateway = await startTestGateway({
    clock: { nowMs: () => RECEIVED_AT_MS, monotonicMs },
    acknowledgeTimeoutMs: 60_000,
    log: { ...SILENT_LOG, error: (fields) => logged.push(fields) },
  });
  gateway.writeKeys.apply("other", { ...SOURCE, id: "other", writeKeys: [{ key: OTHER_KEY, expiresAtMs: null }] });
  const { promise, resolve } = Promise.withResolvers<void>();
  gateway.producer.acknowledge = () => promise;
  acknowledge = resolve;
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const socket of sockets) socket.destroy();
  await gateway.close();
});

const basic = (key: string) => `Authorization: Basic ${btoa(`${key}:`)}`;
const single = (key = WRITE_KEY, headers: string[] = []) =>
  toRequestBytes("POST", "/v1/track", [basic(key), ...headers], BODY);

/** Sends each on a connection of its own, one after the other has been handed over. */
const sendAll = async (requests: readonly Buffer[]) => {
  const answers: ReturnType<typeof readResponse>[] = [];
  for (const bytes of requests) {
    const socket = await openSocket(gateway.url);
    sockets.push(socket);
    answers.push(readResponse(socket));
    const events = gateway.events().length;
    socket.write(bytes);
    await eventually(() => expect(gateway.events().length).toBeGreaterThan(events));
  }
  return answers;
};

/** Holds back the rounds, in which answers have their turn, until the returned function is called. */
const holdRounds = () => {
  const held: (() => void)[] = [];
  const hold = (next: () => void) => held.push(next);
  const holding = vi.spyOn(globalThis, "setImmediate").mockImplementation(hold as unknown as typeof setImmediate);
  return () => {
    holding.mockRestore();
    for (const next of held) setImmediate(next);
  };
};

const statusesOf = async (answers: readonly ReturnType<typeof readResponse>[]) =>
  (await Promise.all(answers)).map((answer) => answer?.status);

it("AN3: what a request holds is given back once when its client leaves before its answer", async () => {
  const answers = await sendAll(Array.from({ length: 12 }, () => single()));
  expect(gateway.bodies.heldBytes).toBe(12 * BODY.length);
  const letGo = holdRounds();
  acknowledge();
  // One found time left.
  expect((await answers[0])?.status).toBe(200);
  for (const socket of sockets.slice(6)) socket.destroy();
  await eventually(() => expect(gateway.bodies.heldBytes).toBe(5 * BODY.length));
  letGo();
  expect(await statusesOf(answers.slice(0, 6))).toEqual(Array.from({ length: 6 }, () => 200));
  await eventually(() => expect(gateway.bodies.heldBytes).toBe(0));
  expect(logged).toEqual([]);
});

it("AN3: a stop waits for the answers that wait for their turn, and ends", async () => {
  const answers = await sendAll(Array.from({ length: 6 }, () => single()));
  const letGo = holdRounds();
  acknowledge();
  expect((await answers[0])?.status).toBe(200);
  const closed = gateway.close();
  await eventually(() => expect(openSocket(gateway.url)).rejects.toThrow());
  letGo();
  for (const answer of answers.slice(1)) {
    expect(await answer).toMatchObject({ status: 200, headers: { connection: "close" } });
  }
  await closed;
});

it("AN3: the calls of a source that is removed meanwhile are answered as they were taken", async () => {
  const answers = await sendAll(Array.from({ length: 3 }, () => single()));
  const letGo = holdRounds();
  acknowledge();
  await answers[0];
  gateway.writeKeys.apply(SOURCE.id, undefined);
  letGo();
  expect(await statusesOf(answers)).toEqual([200, 200, 200]);
});

it("the answers of one connection come in the order of its requests, whoever's turn is first", async () => {
  const written: (string | undefined)[] = [];
  const { writeHead } = ServerResponse.prototype;
  const answers = await sendAll([single(), single(), single()]);
  const socket = await openSocket(gateway.url);
  sockets.push(socket);
  let received = "";
  socket.on("data", (bytes) => {
    received += bytes.toString();
  });
  socket.write(single());
  socket.write(toRequestBytes("POST", "/v1/batch", [basic(OTHER_KEY)], NO_CALL));
  await eventually(() => expect(gateway.events()).toHaveLength(5));
  vi.spyOn(ServerResponse.prototype, "writeHead").mockImplementation(function (this: ServerResponse, ...head) {
    written.push(this.req.url);
    return writeHead.apply(this, head);
  });
  acknowledge();
  await Promise.all(answers);
  // Nothing, the first, and the second, which alone tells of a call that was rejected.
  const tellsOfRejected = () => received.split("HTTP/1.1 200").map((part) => part.includes("rejected"));
  await eventually(() => expect(tellsOfRejected()).toEqual([false, false, true]));
  expect(written).toEqual(["/v1/track", "/v1/batch", "/v1/track", "/v1/track", "/v1/track"]);
});

it("an answer that cannot be written keeps no other from its turn", async () => {
  const { writeHead } = ServerResponse.prototype;
  let failures = 0;
  vi.spyOn(ServerResponse.prototype, "writeHead").mockImplementation(function (this: ServerResponse, ...head) {
    const fails = this.req.headers["x-fails"];
    if (fails === "always" || (fails === "once" && failures++ === 0)) throw new Error("no such header");
    return writeHead.apply(this, head);
  });
  const answers = await sendAll([
    ...[single(), single(), single(WRITE_KEY, ["X-Fails: once"]), single()],
    ...[single(WRITE_KEY, ["X-Fails: always"]), single(), single(OTHER_KEY)],
  ]);
  acknowledge();
  expect(await statusesOf(answers)).toEqual([200, 200, 500, 200, undefined, 200, 200]);
  expect(logged).toMatchObject([{ event: "request_failed" }, { event: "request_failed" }]);
  await eventually(() => expect(gateway.bodies.heldBytes).toBe(0));
});
