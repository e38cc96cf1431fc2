/**
 * A TCP proxy in front of one Kafka broker that imitates faults of networks and brokers, on command.
 *
 * Owns: one listening socket on a free port of 127.0.0.1 and two sockets a connection.
 * - Without a fault every byte passes unchanged, in order, both ways.
 * FP2  A lost produce answer is lost after the broker gave it, so the records are written: the connection is cut in its
 *      place.
 * FP3  While it is held, connections are accepted and stay open and nothing passes, as with a broker that hangs; held
 *      bytes pass at `release`.
 */
import { connect as connectTcp, createServer, type Server, type Socket } from "node:net";
import { apiKeyOf, correlationIdOf, FrameSplitter, PRODUCE } from "./frames.ts";

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface FaultProxy {
  readonly address: Address;
  /** The proxy's address for the upstream broker's, any other unchanged; fits the `route` of a connection. */
  route(broker: Address): Address;
  /** The answers of the next `count` produce requests are lost (FP2). */
  loseProduceAnswers(count: number): void;
  /** Answers lost so far. */
  readonly lostAnswers: number;
  /** Produce requests passed on so far. */
  readonly produceRequests: number;
  /** Connections open now. */
  readonly connections: number;
  /** Everything that passes from now on takes so much longer, in each direction. */
  delay(ms: number): void;
  /** FP3. */
  hold(): void;
  release(): void;
  /** Cuts every connection that is open. */
  cut(): void;
  /** New connections are cut at once, as with a broker that is down; `accept` ends it. */
  refuse(): void;
  accept(): void;
  close(): Promise<void>;
}

/** Listens in front of `upstream`, given as host:port. */
export async function openFaultProxy(upstream: string): Promise<FaultProxy> {
  const proxy = new FrameProxy(parseAddress(upstream));
  await proxy.listen();
  return proxy;
}

class FrameProxy implements FaultProxy {
  readonly #upstream: Address;
  readonly #server: Server;
  readonly #pairs = new Set<ProxiedConnection>();
  #port = 0;
  #toLose = 0;
  #delayMs = 0;
  #held = false;
  #refusing = false;
  lostAnswers = 0;
  produceRequests = 0;

  constructor(upstream: Address) {
    this.#upstream = upstream;
    this.#server = createServer((client) => this.#accept(client));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    const address = this.#server.address();
    if (typeof address === "object" && address !== null) this.#port = address.port;
  }

  get address(): Address {
    return { host: "127.0.0.1", port: this.#port };
  }

  get connections(): number {
    return this.#pairs.size;
  }

  route(broker: Address): Address {
    const { host, port } = this.#upstream;
    return broker.host === host && broker.port === port ? this.address : broker;
  }

  loseProduceAnswers(count: number): void {
    this.#toLose += count;
  }

  delay(ms: number): void {
    this.#delayMs = ms;
  }

  hold(): void {
    this.#held = true;
    for (const pair of this.#pairs) pair.hold();
  }

  release(): void {
    this.#held = false;
    for (const pair of this.#pairs) pair.release();
  }

  cut(): void {
    for (const pair of this.#pairs) pair.cut();
  }

  refuse(): void {
    this.#refusing = true;
  }

  accept(): void {
    this.#refusing = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #accept(client: Socket): void {
    if (this.#refusing) {
      client.destroy();
      return;
    }
    const pair = new ProxiedConnection(client, connectTcp(this.#upstream), {
      delayMs: () => this.#delayMs,
      losesAnswer: () => this.#losesAnswer(),
      onLost: () => {
        this.lostAnswers += 1;
      },
    });
    this.#pairs.add(pair);
    pair.onCut(() => this.#pairs.delete(pair));
    if (this.#held) pair.hold();
  }

  #losesAnswer(): boolean {
    this.produceRequests += 1;
    if (this.#toLose === 0) return false;
    this.#toLose -= 1;
    return true;
  }
}

interface Faults {
  delayMs(): number;
  /** Asked once a produce request: whether its answer is to be lost. */
  losesAnswer(): boolean;
  onLost(): void;
}

/** One client's connection and the one to the broker that stands for it. */
class ProxiedConnection {
  readonly #client: Lane;
  readonly #broker: Lane;
  readonly #faults: Faults;
  readonly #toLose = new Set<number>();

  constructor(client: Socket, broker: Socket, faults: Faults) {
    this.#client = laneTo(client);
    this.#broker = laneTo(broker);
    this.#faults = faults;
    const requests = new FrameSplitter();
    const answers = new FrameSplitter();
    client.on("data", (chunk) => {
      for (const request of requests.push(chunk)) this.#passRequest(request);
    });
    broker.on("data", (chunk) => {
      for (const answer of answers.push(chunk)) this.#passAnswer(answer);
    });
    for (const socket of [client, broker]) {
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => this.cut());
    }
  }

  onCut(listener: () => void): void {
    this.#client.socket.once("close", listener);
  }

  cut(): void {
    this.#client.socket.destroy();
    this.#broker.socket.destroy();
  }

  hold(): void {
    this.#client.socket.pause();
    this.#broker.socket.pause();
  }

  release(): void {
    this.#client.socket.resume();
    this.#broker.socket.resume();
  }

  #passRequest(request: Buffer): void {
    if (apiKeyOf(request) === PRODUCE && this.#faults.losesAnswer())
      this.#toLose.add(correlationIdOf(request, "request"));
    this.#pass(request, this.#broker);
  }

  #passAnswer(answer: Buffer): void {
    if (!this.#toLose.has(correlationIdOf(answer, "answer"))) {
      this.#pass(answer, this.#client);
      return;
    }
    this.#faults.onLost();
    this.cut();
  }

  #pass(frame: Buffer, to: Lane): void {
    const delayMs = this.#faults.delayMs();
    if (delayMs === 0 && to.delayed === 0) {
      to.socket.write(frame);
      return;
    }
    const dueMs = performance.now() + delayMs;
    to.delayed += 1;
    // One after the other, so that frames keep their order when the delay changes.
    to.last = to.last
      .then(() => until(dueMs))
      .then(() => {
        to.delayed -= 1;
        to.socket.write(frame);
      });
  }
}

/** One direction of a connection. */
interface Lane {
  readonly socket: Socket;
  /** Frames that wait for their time. */
  delayed: number;
  /** Settles when the last of them has passed. */
  last: Promise<void>;
}

function laneTo(socket: Socket): Lane {
  return { socket, delayed: 0, last: Promise.resolve() };
}

function until(dueMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, dueMs - performance.now()));
  });
}

function parseAddress(text: string): Address {
  const colon = text.lastIndexOf(":");
  return { host: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}
