/**
 * Invariants under any behaviour of receivers: many attempts at receivers that misbehave at random. Rules: AP1 of
 * agents.ts, SD5 of send.ts.
 */
import type { Socket } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AttemptHandle, attemptTo, useRawServer, useSender } from "./harness.ts";

const BEHAVIOURS: readonly ((socket: Socket) => unknown)[] = [
  (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
  (socket) => socket.write("HTTP/1.1 204 No Content\r\n\r\n"),
  (socket) => socket.write("HTTP/1.1 503 Busy\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"),
  (socket) => socket.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
  (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nkeep-alive: timeout=1\r\n\r\nok"),
  (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"),
  (socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nuntil the end"),
  (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
  (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"),
  (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 500 Nobody asked\r\n\r\n"),
  (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 200000\r\n\r\n${"x".repeat(200_000)}`),
  (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhang"),
  (socket) => socket.write("garbage\r\n\r\n"),
  (socket) => socket.end(),
  (socket) => socket.resetAndDestroy(),
  () => {},
];

const anyRun = fc.record({
  behaviours: fc.array(fc.nat(BEHAVIOURS.length - 1), { minLength: 20, maxLength: 60 }),
  connectionsPerOrigin: fc.integer({ min: 1, max: 8 }),
  connections: fc.integer({ min: 1, max: 12 }),
});

describe("whatever receivers do", () => {
  it("SD5, AP1: every attempt settles and finishes, each request is counted once, nothing stays open", async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, async ({ behaviours, connectionsPerOrigin, connections }) => {
        let served = 0;
        const misbehave = (socket: Socket) => {
          served += 1;
          BEHAVIOURS[behaviours[served % behaviours.length] ?? 0]?.(socket);
        };
        const servers = await Promise.all([useRawServer(misbehave), useRawServer(misbehave)]);
        const urls = servers.map(({ url }) => url);
        const limits = {
          headersTimeoutMs: 100,
          bodyTimeoutMs: 100,
          idleTimeoutMs: 50,
          connectionsPerOrigin,
          connections,
        };
        const sender = useSender({ limits });
        const handles: AttemptHandle[] = [];
        for (let wave = 0; wave < 3; wave += 1) {
          const started = Array.from({ length: 10 }, () =>
            attemptTo(sender, urls, { settle: wave === 1 ? "each" : "any" }),
          );
          handles.push(...started);
          await Promise.all(started.map(({ settled }) => settled));
          expect(sender.openConnections).toBeLessThanOrEqual(connections);
        }
        const reports = await Promise.all(handles.map(({ finished }) => finished));
        expect(reports.every((report) => report.urls.length === urls.length)).toBe(true);
        expect(sender.requestsInFlight).toBe(0);
        const counted = await sender.registry.getSingleMetric("posthaste_attempts_total")?.get();
        const total = (counted?.values ?? []).reduce((sum, { value }) => sum + value, 0);
        expect(total).toBe(handles.length * urls.length);
        await sender.close();
        expect(sender.openConnections).toBe(0);
      }),
      { numRuns: 15, endOnFailure: true },
    );
  });
});
