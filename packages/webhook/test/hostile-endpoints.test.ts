/**
 * Forbidden behaviour of endpoints. Each case is a real socket; limits are shortened where the default is not the
 * point. Rules: SD3 and SD4 of send.ts.
 */
import type { Socket } from "node:net";
import { eventually } from "@posthaste/testkit/eventually";
import { Registry } from "prom-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { type OpenSocket, openSocket } from "../src/connector.ts";
import type { UrlResult } from "../src/report.ts";
import { createWebhookSender, type WebhookSender } from "../src/sender.ts";
import { attemptTo, useClosedPort, useRawServer, useSender } from "./harness.ts";

const SHORT = { headersTimeoutMs: 300, bodyTimeoutMs: 300 };
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

async function resultOf(sender: WebhookSender, url: string): Promise<UrlResult> {
  const { urls } = await attemptTo(sender, [url]).finished;
  const [result] = urls;
  if (result === undefined) throw new Error("the attempt has no result");
  return result;
}

/** Writes `text` again and again until the connection ends. */
function repeat(socket: Socket, text: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.on("close", () => clearInterval(timer));
}

/** Opens sockets for a sender; `hasRead` answers when the last of them has read so many bytes. */
function watchedSockets() {
  let opened: Socket | undefined;
  const open: OpenSocket = (target) => {
    opened = openSocket(target);
    return opened;
  };
  return { open, hasRead: (bytes: number) => eventually(() => expect(opened?.bytesRead).toBe(bytes)) };
}

/** Writes one byte of `text` at a time. */
function trickle(socket: Socket, text: string, everyMs: number): void {
  let at = 0;
  const timer = setInterval(() => {
    if (at < text.length) socket.write(text.charAt(at));
    at += 1;
  }, everyMs);
  socket.on("close", () => clearInterval(timer));
}

describe("an endpoint that never comes to the end of its headers", () => {
  it("has 5 seconds by default", async () => {
    const server = await useRawServer(() => {});
    const sender = createWebhookSender({ allowNetworks: ["127.0.0.0/8"], registry: new Registry() });
    onTestFinished(() => sender.close());
    const result = await resultOf(sender, server.url);
    expect(result).toMatchObject({ outcome: "retryable", status: null, error: "timeout" });
    expect(result.durationMs).toBeGreaterThanOrEqual(5_000);
    expect(result.durationMs).toBeLessThan(20_000);
  });

  it("times out when it trickles its headers a byte at a time", async () => {
    const server = await useRawServer((socket) => trickle(socket, `HTTP/1.1 200 OK\r\nx-slow: ${"x".repeat(500)}`, 5));
    const result = await resultOf(useSender({ limits: SHORT }), server.url);
    expect(result).toMatchObject({ outcome: "retryable", error: "timeout" });
    expect(result.durationMs).toBeGreaterThanOrEqual(300);
  });

  it("times out when it sends informational answers for ever", async () => {
    const early = "HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n";
    const server = await useRawServer((socket) => repeat(socket, early, 20));
    const result = await resultOf(useSender({ limits: SHORT }), server.url);
    expect(result).toMatchObject({ outcome: "retryable", error: "timeout" });
    expect(result.durationMs).toBeLessThan(20_000);
  });

  it("times out when it answers 100 for ever, which nobody asked it to", async () => {
    const server = await useRawServer((socket) => repeat(socket, CONTINUE, 20));
    const result = await resultOf(useSender({ limits: SHORT }), server.url);
    expect(result).toMatchObject({ outcome: "retryable", error: "timeout" });
    expect(result.durationMs).toBeLessThan(20_000);
  });

  it("is retried when it answers 100 as fast as it can", async () => {
    const server = await useRawServer((socket) => repeat(socket, CONTINUE.repeat(1_000), 1));
    const result = await resultOf(useSender(), server.url);
    expect(result).toMatchObject({ outcome: "retryable", status: null });
  });

  it.each([
    ["in one piece with its answer", [CONTINUE + OK]],
    ["several times", [CONTINUE + CONTINUE + CONTINUE, OK]],
    ["in a piece of its own", [CONTINUE, OK]],
    [
      "with headers, and other interim answers",
      [`HTTP/1.1 100 Go On\r\nx-a: b\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n`, OK],
    ],
  ])("has delivered when it only says 100 first, %s", async (_how, pieces) => {
    const server = await useRawServer((socket) => {
      for (const [index, piece] of pieces.entries()) setTimeout(() => socket.write(piece), index * 30);
    });
    const sender = useSender();
    for (let count = 0; count < 2; count += 1) {
      expect(await resultOf(sender, server.url)).toMatchObject({ outcome: "delivered", status: 200, answer: "ok" });
    }
    expect(server.connections).toBe(1);
  });

  it("is retried when it cuts a 100 in two, which cannot be left out", async () => {
    const { open, hasRead } = watchedSockets();
    const server = await useRawServer((socket) => {
      socket.write(CONTINUE.slice(0, 20));
      void hasRead(20).then(() => socket.write(CONTINUE.slice(20) + OK));
    });
    const result = await resultOf(useSender({ openSocket: open }), server.url);
    expect(result).toMatchObject({ outcome: "retryable", status: null });
  });

  it("frees the connection and the count when the time is over", async () => {
    const server = await useRawServer(() => {});
    const sender = useSender({ limits: SHORT });
    await resultOf(sender, server.url);
    expect(sender.requestsInFlight).toBe(0);
    expect(sender.openConnections).toBe(0);
  });
});

describe("an endpoint that breaks the connection", () => {
  it("is retried when nothing listens", async () => {
    const port = await useClosedPort();
    const result = await resultOf(useSender(), `http://127.0.0.1:${port}/`);
    expect(result).toMatchObject({ outcome: "retryable", status: null, error: "connection_refused" });
  });

  it("is retried, and not sent to twice, when it closes without an answer", async () => {
    const server = await useRawServer((socket) => socket.end());
    const result = await resultOf(useSender(), server.url);
    expect(result).toMatchObject({ outcome: "retryable", error: "connection_reset" });
    expect(server.requests).toHaveLength(1);
  });

  it("is retried when it resets in the middle of its headers", async () => {
    const server = await useRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-", () => socket.resetAndDestroy());
    });
    const result = await resultOf(useSender(), server.url);
    expect(result).toMatchObject({ outcome: "retryable", error: "connection_reset" });
    expect(server.requests).toHaveLength(1);
  });

  it("has delivered when it resets in the middle of its body: the status had arrived", async () => {
    const half = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf";
    const { open, hasRead } = watchedSockets();
    const server = await useRawServer((socket) => {
      socket.write(half);
      // Bytes that are not read when a reset comes are lost.
      void hasRead(half.length).then(() => socket.resetAndDestroy());
    });
    const sender = useSender({ openSocket: open });
    const result = await resultOf(sender, server.url);
    expect(result).toMatchObject({ outcome: "delivered", status: 200, error: null, answer: "half" });
    expect(sender.requestsInFlight).toBe(0);
  });

  it.each(["hello\r\n\r\n", "SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 2000 Odd\r\n\r\n", "HTTP/2 200\r\n\r\n"])(
    "is retried when it speaks something else than HTTP/1.1: %j",
    async (text) => {
      const server = await useRawServer((socket) => socket.write(text));
      const result = await resultOf(useSender(), server.url);
      expect(result).toMatchObject({ outcome: "retryable", status: null, error: "bad_response" });
    },
  );

  it("is retried when it wants to upgrade to another protocol", async () => {
    const answer = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";
    const server = await useRawServer((socket) => socket.write(answer));
    const result = await resultOf(useSender(), server.url);
    expect(result).toMatchObject({ outcome: "retryable", status: null });
  });
});

describe("an endpoint whose body is the trouble", () => {
  it("is settled at its headers, and cut off at the cap, when the body is endless", async () => {
    const server = await useRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      repeat(socket, `2000\r\n${"x".repeat(0x2000)}\r\n`, 1);
    });
    const sender = useSender();
    const { settled, finished } = attemptTo(sender, [server.url]);
    expect((await settled).settlement.outcome).toBe("delivered");
    const [result] = (await finished).urls;
    expect(result).toMatchObject({ outcome: "delivered", status: 200 });
    expect(result?.answer).toBe("x".repeat(1_024));
    expect(sender.openConnections).toBe(0);
  });

  it("SD3: has delivered when its body takes too long, and its answer is over its budget", async () => {
    const server = await useRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      repeat(socket, "1\r\nx\r\n", 10);
    });
    const sender = useSender({ limits: { bodyTimeoutMs: 300 } });
    const ended = Promise.withResolvers<unknown>();
    const onEnd = (_index: number, details: unknown) => ended.resolve(details);
    const { settled, finished } = attemptTo(sender, [server.url], {}, { onEnd });
    expect((await settled).settlement).toEqual({ outcome: "delivered", retries: [], dead: [] });
    expect(sender.requestsInFlight).toBe(1);
    expect(await ended.promise).toMatchObject({ outcome: "delivered", isOverBudget: true });
    expect((await finished).urls).toMatchObject([{ outcome: "delivered", status: 200, error: "answer_over_budget" }]);
    expect(sender.requestsInFlight).toBe(0);
  });

  it("has delivered when the body breaks the rules after a good status", async () => {
    const answer = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot a chunk\r\n";
    const server = await useRawServer((socket) => socket.write(answer));
    expect(await resultOf(useSender(), server.url)).toMatchObject({ outcome: "delivered", status: 200 });
  });
});

describe("an endpoint that redirects", () => {
  it.each([301, 302, 303, 307, 308])("is not followed and is permanent: %i", async (status) => {
    const other = await useRawServer((socket) => socket.write(OK));
    const answer = `HTTP/1.1 ${status} Moved\r\nlocation: ${other.url}\r\ncontent-length: 0\r\n\r\n`;
    const server = await useRawServer((socket) => socket.write(answer));
    expect(await resultOf(useSender(), server.url)).toMatchObject({ outcome: "permanent", status });
    expect(other.connections).toBe(0);
  });
});

describe("kept-alive connections", () => {
  it("are used again", async () => {
    const server = await useRawServer((socket) => socket.write(OK));
    const sender = useSender();
    for (let count = 0; count < 5; count += 1) await resultOf(sender, server.url);
    expect(server.connections).toBe(1);
    expect(server.requests).toHaveLength(5);
  });

  it("SD4: that close as the next request leaves cost one resend on a new connection, not a retry", async () => {
    const server = await useRawServer((socket, nth) => {
      if (nth === 1) socket.write(OK);
      else socket.destroy();
    });
    const sender = useSender();
    expect(await resultOf(sender, server.url)).toMatchObject({ outcome: "delivered" });
    expect(await resultOf(sender, server.url)).toMatchObject({ outcome: "delivered", answer: "ok" });
    expect(server.connections).toBe(2);
    expect(server.requests).toHaveLength(3);
  });

  it("SD4: that are reset as the next request leaves cost one resend too", async () => {
    const server = await useRawServer((socket, nth) => {
      if (nth === 1) socket.write(OK);
      else socket.resetAndDestroy();
    });
    const sender = useSender();
    await resultOf(sender, server.url);
    expect(await resultOf(sender, server.url)).toMatchObject({ outcome: "delivered" });
    expect(server.requests).toHaveLength(3);
  });

  it("SD4: that close again on the new connection are a failure: one resend, no more", async () => {
    let answered = 0;
    const server = await useRawServer((socket) => {
      answered += 1;
      if (answered === 1) socket.write(OK);
      else socket.destroy();
    });
    const sender = useSender();
    await resultOf(sender, server.url);
    expect(await resultOf(sender, server.url)).toMatchObject({ outcome: "retryable", error: "connection_reset" });
    expect(server.requests).toHaveLength(3);
  });

  it("SD4: that break after the first byte of an answer are a failure at once", async () => {
    const server = await useRawServer((socket, nth) => {
      if (nth === 1) socket.write(OK);
      else socket.write("HTTP/1.1 200", () => socket.destroy());
    });
    const sender = useSender();
    await resultOf(sender, server.url);
    expect(await resultOf(sender, server.url)).toMatchObject({ outcome: "retryable", error: "connection_reset" });
    expect(server.requests).toHaveLength(2);
  });

  it("are not used again when the receiver says close", async () => {
    const server = await useRawServer((socket) => {
      socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    });
    const sender = useSender();
    for (let count = 0; count < 3; count += 1) {
      expect(await resultOf(sender, server.url)).toMatchObject({ outcome: "delivered" });
    }
    expect(server.requests).toHaveLength(3);
    expect(server.connections).toBe(3);
  });

  it("are closed when they idle, and nothing of them is kept", async () => {
    const server = await useRawServer((socket) => socket.write(OK));
    const sender = useSender({ limits: { idleTimeoutMs: 50 } });
    await resultOf(sender, server.url);
    expect(sender.openConnections).toBe(1);
    await eventually(() => expect(sender.openConnections).toBe(0));
  });

  it("are given up when an answer comes that nobody asked for", async () => {
    const server = await useRawServer((socket, nth) => {
      socket.write(nth === 1 ? OK + OK : OK);
    });
    const sender = useSender();
    expect(await resultOf(sender, server.url)).toMatchObject({ outcome: "delivered" });
    expect(await resultOf(sender, server.url)).toMatchObject({ outcome: "delivered" });
    expect(server.connections).toBe(2);
  });
});
