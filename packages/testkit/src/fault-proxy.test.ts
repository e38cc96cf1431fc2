import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "./eventually.ts";
import { type FaultProxy, openFaultProxy } from "./fault-proxy.ts";
import { FrameSplitter, PRODUCE } from "./frames.ts";

const FETCH = 1;

/** A request frame: an API key, a version, a correlation id. */
function request(apiKey: number, correlationId: number): Buffer {
  const frame = Buffer.alloc(12);
  frame.writeInt32BE(8, 0);
  frame.writeInt16BE(apiKey, 4);
  frame.writeInt32BE(correlationId, 8);
  return frame;
}

describe("fault proxy", () => {
  let broker: Server;
  let proxy: FaultProxy;
  /** Correlation ids that the broker saw, in order. */
  let seen: number[];
  const clients: Socket[] = [];

  beforeEach(async () => {
    seen = [];
    // A broker that answers each request with its correlation id.
    broker = createServer((socket) => {
      const splitter = new FrameSplitter();
      socket.on("error", () => {});
      socket.on("data", (chunk) => {
        for (const frame of splitter.push(chunk)) {
          seen.push(frame.readInt32BE(8));
          const answer = Buffer.alloc(8);
          answer.writeInt32BE(4, 0);
          frame.copy(answer, 4, 8, 12);
          socket.write(answer);
        }
      });
    });
    broker.listen(0, "127.0.0.1");
    await once(broker, "listening");
    proxy = await openFaultProxy(`127.0.0.1:${(broker.address() as AddressInfo).port}`);
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await proxy.close();
    await new Promise((resolve) => {
      broker.close(resolve);
    });
  });

  /** A connection through the proxy, and the correlation ids that came back on it. */
  async function open(): Promise<{ socket: Socket; answers: number[]; closed: Promise<unknown> }> {
    const socket = connect(proxy.address);
    clients.push(socket);
    const answers: number[] = [];
    const splitter = new FrameSplitter();
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      for (const frame of splitter.push(chunk)) answers.push(frame.readInt32BE(4));
    });
    const closed = once(socket, "close");
    await once(socket, "connect");
    return { socket, answers, closed };
  }

  it("passes everything both ways without a fault", async () => {
    const { socket, answers } = await open();
    const bytes = Buffer.concat([request(PRODUCE, 1), request(FETCH, 2), request(PRODUCE, 3)]);
    // Cut across frames, as TCP may.
    socket.write(bytes.subarray(0, 7));
    socket.write(bytes.subarray(7));
    await eventually(() => expect(answers).toEqual([1, 2, 3]));
    expect(proxy.produceRequests).toBe(2);
  });

  it("FP2: cuts the connection in place of a produce answer that the broker gave, and only there", async () => {
    proxy.loseProduceAnswers(1);
    const first = await open();
    first.socket.write(Buffer.concat([request(FETCH, 1), request(PRODUCE, 2)]));
    await first.closed;
    expect(first.answers).toEqual([1]);
    expect(seen).toEqual([1, 2]);
    expect(proxy.lostAnswers).toBe(1);

    const second = await open();
    second.socket.write(request(PRODUCE, 3));
    await eventually(() => expect(second.answers).toEqual([3]));
  });

  it("FP3: passes nothing while it is held, and what was held up at release", async () => {
    const before = await open();
    proxy.hold();
    const during = await open();
    before.socket.write(request(FETCH, 1));
    during.socket.write(request(FETCH, 2));
    await eventually(() => expect(proxy.connections).toBe(2));
    expect(seen).toEqual([]);
    proxy.release();
    await eventually(() => expect([before.answers, during.answers]).toEqual([[1], [2]]));
  });

  it("keeps the order of frames when the delay ends before they passed", async () => {
    const { socket, answers } = await open();
    proxy.delay(50);
    socket.write(request(PRODUCE, 1));
    await eventually(() => expect(proxy.produceRequests).toBe(1));
    proxy.delay(0);
    socket.write(request(FETCH, 2));
    await eventually(() => expect(answers).toEqual([1, 2]));
  });

  it("cuts what is open and refuses what comes, until it accepts again", async () => {
    const first = await open();
    proxy.refuse();
    proxy.cut();
    await first.closed;
    const refused = connect(proxy.address);
    refused.on("error", () => {});
    await once(refused, "close");
    proxy.accept();
    const { socket, answers } = await open();
    socket.write(request(FETCH, 1));
    await eventually(() => expect(answers).toEqual([1]));
  });

  it("routes its broker to itself and leaves other brokers alone", () => {
    const upstream = { host: "127.0.0.1", port: (broker.address() as AddressInfo).port };
    expect(proxy.route(upstream)).toEqual(proxy.address);
    expect(proxy.route({ host: "elsewhere", port: 9092 })).toEqual({ host: "elsewhere", port: 9092 });
  });
});
