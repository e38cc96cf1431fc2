import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { BrokerAddress } from "./dial.ts";
import { LivenessWatch } from "./liveness.ts";

const TICK_MS = 20;

/** The length and the correlation id, as every answer begins. */
const ANSWER = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0]);

/** As much of a broker as the watch sees: it answers any bytes, until it is told to hang. */
class FakeBroker {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  address: BrokerAddress = { host: "127.0.0.1", port: 0 };
  hangs = false;
  /** Questions that came. */
  asked = 0;

  constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("data", () => {
        this.asked += 1;
        if (!this.hangs) socket.write(ANSWER);
      });
    });
  }

  /** On a free port at first, on the same one after `close`. */
  async listen(): Promise<this> {
    this.#server.listen(this.address.port, "127.0.0.1");
    await once(this.#server, "listening");
    this.address = { host: "127.0.0.1", port: (this.#server.address() as AddressInfo).port };
    return this;
  }

  get name(): string {
    return `127.0.0.1:${this.address.port}`;
  }

  /** The process goes on: it answers the requests that came while it hung. */
  resume(): void {
    this.hangs = false;
    for (const socket of this.#sockets) socket.write(ANSWER);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

describe("the liveness watch (L1)", () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function startBrokers(count: number): Promise<FakeBroker[]> {
    const brokers = await Promise.all(Array.from({ length: count }, () => new FakeBroker().listen()));
    for (const broker of brokers) closing.push(() => broker.close());
    return brokers;
  }

  /** A watch over these brokers, and its messages. */
  function startWatch(brokers: readonly FakeBroker[]) {
    const changes: string[] = [];
    const watch = new LivenessWatch({
      brokers: brokers.map(({ address }) => address),
      dial: ({ host, port }, onConnect) => connect({ host, port }, onConnect),
      onChange: (broker, isUnresponsive) => changes.push(`${broker} ${isUnresponsive ? "silent" : "answers"}`),
      tickMs: TICK_MS,
    });
    closing.push(() => watch.close());
    return { watch, changes };
  }

  /** A socket of a client of the watch, and the error that ended it. */
  async function openSocket(watch: LivenessWatch, broker: FakeBroker) {
    const connected = Promise.withResolvers<void>();
    const socket = watch.open(broker.address, connected.resolve);
    closing.push(() => socket.destroy());
    const failed = new Promise<NodeJS.ErrnoException>((resolve) => {
      socket.once("error", resolve);
    });
    await connected.promise;
    return { socket, failed };
  }

  it("cuts a hung broker's connections while another answers, and says so once", async () => {
    const [hung, healthy] = (await startBrokers(2)) as [FakeBroker, FakeBroker];
    const { watch, changes } = startWatch([hung, healthy]);
    const { failed } = await openSocket(watch, hung);
    const other = await openSocket(watch, healthy);
    await eventually(() => expect(hung.asked).toBeGreaterThan(0));
    hung.hangs = true;
    expect((await failed).code).toBe("ECONNREFUSED");
    expect(changes).toEqual([`${hung.name} silent`]);
    expect(watch.unresponsive()).toEqual([hung.name]);
    expect(other.socket.destroyed).toBe(false);
  });

  it("cuts a broker that hung before anyone connected to it", async () => {
    const [hung, healthy] = (await startBrokers(2)) as [FakeBroker, FakeBroker];
    hung.hangs = true;
    const { changes } = startWatch([hung, healthy]);
    await eventually(() => expect(changes).toEqual([`${hung.name} silent`]));
  });

  it("refuses connections to an unresponsive broker until it answers again", async () => {
    const [hung, healthy] = (await startBrokers(2)) as [FakeBroker, FakeBroker];
    hung.hangs = true;
    const { watch, changes } = startWatch([hung, healthy]);
    await eventually(() => expect(watch.unresponsive()).toEqual([hung.name]));

    const refused = watch.open(hung.address, () => expect.unreachable());
    const [error] = await once(refused, "error");
    expect(error).toMatchObject({ code: "ECONNREFUSED" });

    hung.resume();
    await eventually(() => expect(changes).toEqual([`${hung.name} silent`, `${hung.name} answers`]));
    await openSocket(watch, hung);
  });

  it("L2: never cuts the only broker", async () => {
    // Ticks by hand, so that it is known how many went by.
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    closing.push(() => vi.useRealTimers());
    const [only] = (await startBrokers(1)) as [FakeBroker];
    const { watch, changes } = startWatch([only]);
    const { socket } = await openSocket(watch, only);
    only.hangs = true;
    vi.advanceTimersByTime(20 * TICK_MS);
    expect(changes).toEqual([]);
    expect(socket.destroyed).toBe(false);
  });

  it("L2: never cuts the last broker that answers", async () => {
    const [first, last] = (await startBrokers(2)) as [FakeBroker, FakeBroker];
    const { watch, changes } = startWatch([first, last]);
    await eventually(() => expect(last.asked).toBeGreaterThan(0));
    first.hangs = true;
    await eventually(() => expect(watch.unresponsive()).toEqual([first.name]));
    const { socket } = await openSocket(watch, last);
    last.hangs = true;
    first.resume();
    // The first one's answer proves that ticks went by; now it is a witness against the other.
    await eventually(() =>
      expect(changes).toEqual([`${first.name} silent`, `${first.name} answers`, `${last.name} silent`]),
    );
    expect(socket.destroyed).toBe(true);
  });

  it("L1d: leaves a dead broker to its clients, and watches it again when it is back", async () => {
    const [dead, healthy] = (await startBrokers(2)) as [FakeBroker, FakeBroker];
    const { watch, changes } = startWatch([dead, healthy]);
    await eventually(() => expect(dead.asked).toBeGreaterThan(0));
    await dead.close();
    const socket = watch.open(dead.address, () => expect.unreachable());
    const [error] = await once(socket, "error");
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
    const asked = healthy.asked;
    await eventually(() => expect(healthy.asked).toBeGreaterThan(asked + 6));
    expect(changes).toEqual([]);

    dead.asked = 0;
    await dead.listen();
    await eventually(() => expect(dead.asked).toBeGreaterThan(0));
    dead.hangs = true;
    await eventually(() => expect(changes).toEqual([`${dead.name} silent`]));
  });

  it("watches a broker that it first hears of through a socket", async () => {
    const [known, learnt] = (await startBrokers(2)) as [FakeBroker, FakeBroker];
    const { watch } = startWatch([known]);
    const { failed } = await openSocket(watch, learnt);
    await eventually(() => expect(learnt.asked).toBeGreaterThan(0));
    learnt.hangs = true;
    expect((await failed).message).toContain(learnt.name);
  });

  it("names the brokers that answer, which a hung one does not, the only one included", async () => {
    const [only] = (await startBrokers(1)) as [FakeBroker];
    const { watch } = startWatch([only]);
    expect(watch.answering()).toEqual([]);
    await eventually(() => expect(watch.answering()).toEqual([only.name]));
    only.hangs = true;
    await eventually(() => expect(watch.answering()).toEqual([]));
    expect(watch.unresponsive()).toEqual([]);
  });

  it("L1c: asks the only broker at every fourth tick, and each of two at every one", async () => {
    const [only, other] = (await startBrokers(2)) as [FakeBroker, FakeBroker];
    let ticks = 0;
    const asked = (): number[] => [only, other].map((each) => each.asked);
    const watch = new LivenessWatch({
      brokers: [only.address],
      dial: ({ host, port }, onConnect) => connect({ host, port }, onConnect),
      onChange: () => {},
      onTick: () => (ticks += 1),
      tickMs: TICK_MS,
    });
    closing.push(() => watch.close());
    await eventually(() => expect(only.asked).toBeGreaterThan(5));
    // Once as its probe connects; a broker that is slow to answer is asked less.
    expect(only.asked).toBeLessThanOrEqual(1 + ticks / 4);
    await openSocket(watch, other);
    const [before, since] = [asked(), ticks];
    await eventually(() => {
      for (const [index, count] of asked().entries()) {
        expect(count - (before[index] ?? 0)).toBeGreaterThan((ticks - since) / 3);
        expect(count - (before[index] ?? 0)).toBeGreaterThan(10);
      }
    });
  });

  it("L1a: does not blame a broker for our own blocked event loop", async () => {
    const brokers = (await startBrokers(2)) as [FakeBroker, FakeBroker];
    const { changes } = startWatch(brokers);
    await eventually(() => expect(brokers[0].asked).toBeGreaterThan(0));
    const until = performance.now() + 10 * TICK_MS;
    while (performance.now() < until);
    const asked = brokers[0].asked;
    await eventually(() => expect(brokers[0].asked).toBeGreaterThan(asked + 4));
    expect(changes).toEqual([]);
  });

  it("L1e: asks a broker that refuses it at every eleventh tick alone, and says what to change", async () => {
    // The answer of a listener with TLS to a probe without: an alert.
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end(Buffer.from("15030300020250", "hex")));
    });
    let refused = 0;
    server.on("connection", () => {
      refused += 1;
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    const address = { host: "127.0.0.1", port: (server.address() as AddressInfo).port };
    const reported: string[] = [];
    let ticks = 0;
    const watch = new LivenessWatch({
      brokers: [address],
      dial: ({ host, port }, onConnect) => connect({ host, port }, onConnect),
      onChange: () => expect.unreachable(),
      onRefused: (broker, advice) => reported.push(`${broker}: ${advice}`),
      onTick: () => (ticks += 1),
      tickMs: TICK_MS,
    });
    closing.push(() => watch.close());
    const name = `127.0.0.1:${address.port}`;
    await eventually(() => expect(reported.length).toBe(4));
    // The first is asked before the first tick.
    expect(ticks).toBeGreaterThanOrEqual(33);
    expect(refused).toBe(4);
    expect(reported[0]).toMatch(new RegExp(`^${name}: .*KAFKA_TLS`));
    expect(watch.refusals().get(name)).toMatch(/KAFKA_TLS/);
  });

  it("does not count a dead broker among those that answer (L1d)", async () => {
    const [dying, other] = (await startBrokers(2)) as [FakeBroker, FakeBroker];
    const { watch } = startWatch([dying, other]);
    await eventually(() => expect(watch.answering()).toEqual([dying.name, other.name]));
    await dying.close();
    await eventually(() => expect(watch.answering()).toEqual([other.name]));
    await dying.listen();
    await eventually(() => expect(watch.answering()).toEqual([dying.name, other.name]));
  });
});
