/** The pools, through real sockets to receivers that answer when the test says so. */
import type { Socket } from "node:net";
import { eventually } from "@posthaste/testkit/eventually";
import { describe, expect, it } from "vitest";
import { attemptTo, useRawServer, useSender } from "./harness.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/** A receiver that keeps every request until it is told to answer. */
async function useHoldingServer() {
  const held: Socket[] = [];
  const server = await useRawServer((socket) => held.push(socket));
  return { server, held, answerOne: () => held.shift()?.write(OK) };
}

describe("the connections of one origin", () => {
  it("AP1: are bounded; what is beyond waits for the first that is free", async () => {
    const { server, held, answerOne } = await useHoldingServer();
    const sender = useSender({ limits: { connectionsPerOrigin: 2 } });
    const attempts = [1, 2, 3].map(() => attemptTo(sender, [server.url]));
    await eventually(() => expect(held).toHaveLength(2));
    expect(sender.requestsInFlight).toBe(3);
    answerOne();
    await eventually(() => expect(server.requests).toHaveLength(3));
    answerOne();
    answerOne();
    const reports = await Promise.all(attempts.map(({ settled }) => settled));
    expect(reports.map(({ settlement }) => settlement.outcome)).toEqual(["delivered", "delivered", "delivered"]);
    expect(server.connections).toBe(2);
  });

  it("AP1: a request that waits for a connection has its time running, and is then never sent", async () => {
    const answering: Socket[] = [];
    const server = await useRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n");
      answering.push(socket);
    });
    const sender = useSender({ limits: { connectionsPerOrigin: 1, headersTimeoutMs: 300 } });
    let first = attemptTo(sender, [server.url]);
    // Again where the machine stood still for all of its time.
    while ((await first.settled).settlement.outcome !== "delivered") first = attemptTo(sender, [server.url]);
    const before = server.requests.length;
    // The first has its connection until its body has ended, for longer than the second may take.
    const second = attemptTo(sender, [server.url]);
    expect((await second.finished).urls).toMatchObject([{ outcome: "retryable", error: "timeout" }]);
    answering.at(-1)?.write("body");
    await first.finished;
    expect(server.requests).toHaveLength(before);
  });

  it("AP1: are enough for a hundred that hang at one host with eight requests each, and for others", async () => {
    const server = await useRawServer((socket) => {
      if (server.requests.at(-1)?.startsWith("POST /healthy ")) socket.write(OK);
    });
    const sender = useSender();
    const hanging = Array.from({ length: 800 }, () => attemptTo(sender, [server.url]));
    await eventually(() => expect(server.requests).toHaveLength(hanging.length));
    const { settled } = attemptTo(sender, [new URL("/healthy", server.url).href]);
    expect((await settled).settlement.outcome).toBe("delivered");
  });

  it("AP2: the one that was used last gets the next request", async () => {
    const { server, held, answerOne } = await useHoldingServer();
    const sender = useSender();
    const both = [attemptTo(sender, [server.url]), attemptTo(sender, [server.url])];
    await eventually(() => expect(held).toHaveLength(2));
    const [, usedLast] = held;
    answerOne();
    await both[0]?.finished;
    answerOne();
    await both[1]?.finished;
    for (let count = 0; count < 3; count += 1) {
      const { finished } = attemptTo(sender, [server.url]);
      await eventually(() => expect(held).toHaveLength(1));
      expect(held[0]).toBe(usedLast);
      answerOne();
      await finished;
    }
  });

  it("AP4: one whose request timed out is closed and not used again", async () => {
    let answers = false;
    const server = await useRawServer((socket) => answers && socket.write(OK));
    const sender = useSender({ limits: { headersTimeoutMs: 1_000 } });
    await attemptTo(sender, [server.url]).finished;
    expect(sender.openConnections).toBe(0);
    answers = true;
    // Another one where the machine stood still for all of its time.
    let attempts = 1;
    for (let outcome = ""; outcome !== "delivered"; attempts += 1) {
      outcome = (await attemptTo(sender, [server.url]).finished).urls[0]?.outcome ?? "";
    }
    await eventually(() => expect(server.connections).toBe(attempts));
  });
});

describe("the connections of all origins", () => {
  it("AP3: are bounded; the one that has been idle longest is closed for a new one", async () => {
    const servers = await Promise.all([1, 2, 3].map(() => useRawServer((socket) => socket.write(OK))));
    const sender = useSender({ limits: { connections: 2 } });
    for (const { url } of servers) await attemptTo(sender, [url]).finished;
    expect(sender.openConnections).toBe(2);
    const [first, second] = servers;
    await attemptTo(sender, [second?.url ?? ""]).finished;
    expect(second?.connections).toBe(1);
    await attemptTo(sender, [first?.url ?? ""]).finished;
    expect(first?.connections).toBe(2);
  });

  it("AP3: where none is idle, an origin waits until another lets one go", async () => {
    const { server: busy, held, answerOne } = await useHoldingServer();
    const other = await useRawServer((socket) => socket.write(OK));
    const sender = useSender({ limits: { connections: 1 } });
    const first = attemptTo(sender, [busy.url]);
    await eventually(() => expect(held).toHaveLength(1));
    const second = attemptTo(sender, [other.url]);
    expect(other.connections).toBe(0);
    answerOne();
    expect((await first.settled).settlement.outcome).toBe("delivered");
    expect((await second.settled).settlement.outcome).toBe("delivered");
    expect(sender.openConnections).toBe(1);
  });

  it("AP5: leave nothing behind for hundreds of receivers that were called once", async () => {
    const server = await useRawServer((socket) => socket.write(OK));
    const sender = useSender({ limits: { idleTimeoutMs: 100, connections: 50 } });
    // Every address of 127.0.0.0/8 is this machine, so each is an origin of its own.
    const urls = Array.from({ length: 250 }, (_, index) => `http://127.0.${index % 4}.${index + 1}:${server.port}/`);
    for (let at = 0; at < urls.length; at += 50) {
      await Promise.all(urls.slice(at, at + 50).map((url) => attemptTo(sender, [url]).finished));
      expect(sender.openConnections).toBeLessThanOrEqual(50);
    }
    await eventually(() => expect(sender.openConnections).toBe(0));
  });
});
