import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endWithAnswer } from "./last-answer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A connection whose client never ends, and the texts written onto it. */
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

  it("is the end of parsing: later bytes are dropped", async () => {
    vi.useRealTimers();
    const refused: Socket[] = [];
    const server = createServer().on("clientError", (error, socket) => {
      refused.push(socket as Socket);
      endWithAnswer(error, socket as Socket, () => "HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true });
    const [first, second] = ["no request\r\n\r\n", "no request either\r\n\r\n"];
    client.write(first);
    await once(client, "data");
    client.write(second);
    await eventually(() => expect(refused[0]?.bytesRead).toBe((first + second).length));
    client.resume().end();
    await once(client, "close");
    expect(refused).toHaveLength(1);
    server.close();
  });

  it("is not made for who is gone, whose connection is closed", () => {
    const { socket, written } = openConnection();
    endWithAnswer(Object.assign(new Error("gone"), { code: "ECONNRESET" }), socket, () => "431");
    expect([written, socket.destroyed]).toEqual([[], true]);
  });
});
