import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endWithAnswer } from "./last-answer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A connection whose client never ends, and what was written onto it. */
function openConnection(): { readonly socket: Socket; readonly written: string[] } {
  const written: string[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk, _, done) => {
      written.push(String(chunk));
      done();
    },
  });
  return { socket: socket as Socket, written };
}

describe("the last answer of a connection", () => {
  it("is written once to who goes on sending, who is cut off after five seconds", async () => {
    const { socket, written } = openConnection();
    for (let time = 0; time < 3; time += 1) endWithAnswer(new Error("no request"), socket, () => "431");
    await vi.advanceTimersByTimeAsync(4999);
    expect([written, socket.destroyed]).toEqual([["431"], false]);
    await vi.advanceTimersByTimeAsync(1);
    expect(socket.destroyed).toBe(true);
  });

  it("is not made for who is gone, whose connection is closed", () => {
    const { socket, written } = openConnection();
    endWithAnswer(Object.assign(new Error("gone"), { code: "ECONNRESET" }), socket, () => "431");
    expect([written, socket.destroyed]).toEqual([[], true]);
  });
});
