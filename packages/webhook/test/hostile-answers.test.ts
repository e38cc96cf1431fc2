/** Answers without end: whatever they are made of, they end with their budget. Rule: SD3 of send.ts. */
import type { Socket } from "node:net";
import { answerHostilely, HOSTILE_ANSWERS, type HostileName } from "@posthaste/testkit/hostile-answers";
import { describe, expect, it } from "vitest";
import { PIECE_BYTES } from "../src/answer-budget.ts";
import { type OpenSocket, openSocket } from "../src/connector.ts";
import { attemptTo, useRawServer, useSender } from "./harness.ts";

const OVERHEAD_BYTES = 32 * 1024;
const BODY_BYTES = 64 * 1024;
/** A read of the kernel's bytes that goes beyond, and one that was under way. */
const SLACK_BYTES = 8 * 1024;

/** A sender, and the bytes that its sockets have read. */
function watchedSender() {
  const sockets: Socket[] = [];
  const open: OpenSocket = (target) => {
    const socket = openSocket(target);
    sockets.push(socket);
    return socket;
  };
  const sender = useSender({ openSocket: open });
  return { sender, bytesRead: () => sockets.reduce((sum, socket) => sum + socket.bytesRead, 0) };
}

const hostile = (name: HostileName) => useRawServer((socket) => answerHostilely(socket, HOSTILE_ANSWERS[name]));

describe("an endpoint whose answer has no end", () => {
  it.each<HostileName>(["endless 102", "endless 103", "endless header lines", "one huge header", "many header lines"])(
    "is retried, with an error of its own, when it has not said its status: %s",
    async (name) => {
      const server = await hostile(name);
      const { sender, bytesRead } = watchedSender();
      const { urls } = await attemptTo(sender, [server.url]).finished;
      expect(urls).toMatchObject([{ outcome: "retryable", status: null, error: "answer_over_budget" }]);
      expect(bytesRead()).toBeLessThanOrEqual(OVERHEAD_BYTES + SLACK_BYTES);
      expect([sender.openConnections, server.requests.length]).toEqual([0, 1]);
    },
  );

  it.each<HostileName>(["endless chunk extensions", "a chunk extension each", "one-byte chunks", "endless trailers"])(
    "has delivered by its status, and has an error beside it: %s",
    async (name) => {
      const server = await hostile(name);
      const { sender, bytesRead } = watchedSender();
      const { settled, finished } = attemptTo(sender, [server.url]);
      expect((await settled).settlement).toEqual({ outcome: "delivered", retries: [], dead: [] });
      const { urls } = await finished;
      expect(urls).toMatchObject([{ outcome: "delivered", status: 200, error: "answer_over_budget" }]);
      expect(bytesRead()).toBeLessThanOrEqual(OVERHEAD_BYTES + BODY_BYTES + SLACK_BYTES);
      expect([sender.openConnections, server.requests.length]).toEqual([0, 1]);
      const counted = await sender.registry.getSingleMetricAsString("posthaste_answers_over_budget_total");
      expect(counted).toMatch(/^posthaste_answers_over_budget_total 1$/m);
    },
  );

  it("WB2: is read a piece in a turn of the event loop, however much has come", async () => {
    const pieces: number[] = [];
    const open: OpenSocket = (target) => {
      const socket = openSocket(target);
      let isNewTurn = true;
      socket.on("readable", () => {
        if (isNewTurn) pieces.push(0);
        pieces.push((pieces.pop() ?? 0) + 1);
        isNewTurn = false;
        setImmediate(() => {
          isNewTurn = true;
        });
      });
      return socket;
    };
    const server = await hostile("endless body");
    await attemptTo(useSender({ openSocket: open }), [server.url]).finished;
    expect(pieces.length).toBeGreaterThan(BODY_BYTES / PIECE_BYTES - 1);
    expect(Math.max(...pieces)).toBe(1);
  });

  it("WB4: has delivered, and leaves the connection to the next, when it is as dear as it may be", async () => {
    const { start } = HOSTILE_ANSWERS["dear within its budget"];
    const server = await useRawServer((socket) => socket.write(start));
    const sender = useSender();
    for (let request = 0; request < 3; request += 1) {
      const { urls } = await attemptTo(sender, [server.url]).finished;
      expect(urls).toMatchObject([{ outcome: "delivered", status: 200, error: null }]);
    }
    expect(server.connections).toBe(1);
  });

  it("WB5: has delivered, with an error beside it, when its body is more small chunks than it may be", async () => {
    const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const server = await useRawServer((socket) => socket.write(`${head}${"1\r\nx\r\n".repeat(200)}0\r\n\r\n`));
    const { sender } = watchedSender();
    const { urls } = await attemptTo(sender, [server.url]).finished;
    expect(urls).toMatchObject([{ outcome: "delivered", status: 200, error: "answer_over_budget" }]);
    expect(sender.openConnections).toBe(0);
  });

  it("tells the end of the request with what the answer went over", async () => {
    const server = await hostile("one-byte chunks");
    const ended = Promise.withResolvers<unknown>();
    const { sender } = watchedSender();
    attemptTo(sender, [server.url], {}, { onEnd: (_index, details) => ended.resolve(details) });
    expect(await ended.promise).toMatchObject({ outcome: "delivered", isOverBudget: true });
  });

  it("has delivered without an error when its body alone is too long", async () => {
    const server = await hostile("endless body");
    const { urls } = await attemptTo(watchedSender().sender, [server.url]).finished;
    expect(urls).toMatchObject([{ outcome: "delivered", status: 200, error: null }]);
  });
});

it("an answer of the largest head and body leaves the connection to the next", async () => {
  const head = `HTTP/1.1 200 OK\r\nx: ${"x".repeat(16_000)}\r\ntransfer-encoding: chunked\r\n\r\n`;
  const answer = `${head}${`40\r\n${"x".repeat(0x40)}\r\n`.repeat(1_000)}0\r\n\r\n`;
  const server = await useRawServer((socket) => socket.write(answer));
  const sender = useSender();
  for (let request = 0; request < 5; request += 1) {
    const { urls } = await attemptTo(sender, [server.url]).finished;
    expect(urls).toMatchObject([{ outcome: "delivered", status: 200, error: null }]);
  }
  expect(server.connections).toBe(1);
});
