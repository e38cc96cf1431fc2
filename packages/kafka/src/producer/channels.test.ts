import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PartitionAnswer } from "../kafkajs/kafkajs-internals.ts";
import { type Channel, MAX_ASIDE, ProducerChannels } from "./channels.ts";
import type { BrokerPlace } from "./partition-leaders.ts";

const ONE: BrokerPlace = { nodeId: 1, host: "one", port: 9092 };
const TWO: BrokerPlace = { nodeId: 2, host: "two", port: 9092 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Brokers that answer by hand, and the fate of each client that was made, by its number. */
function createChannels() {
  const said: string[] = [];
  const answers: PromiseWithResolvers<readonly PartitionAnswer[]>[] = [];
  const behaviour = { connect: (): Promise<void> | undefined => undefined, disconnect: async () => {} };
  let made = 0;
  const channels = new ProducerChannels(({ host }) => {
    const name = `${made++}@${host}`;
    return {
      connect: () => behaviour.connect(),
      send: () => {
        const answer = Promise.withResolvers<readonly PartitionAnswer[]>();
        answers.push(answer);
        return answer.promise;
      },
      disconnect: () => {
        said.push(`${name} goodbye`);
        return behaviour.disconnect();
      },
      destroy: () => void said.push(`${name} destroyed`),
    };
  });
  const shared = (place: BrokerPlace) => channels.shared(place, performance.now());
  /** Sends on the channel, for as long as the answer takes. */
  const sendOn = (channel: Channel | null) => {
    if (channel === null) throw new Error("there is no channel");
    return channel.send([], 10_000);
  };
  return { channels, shared, sendOn, said, answers, behaviour, made: () => made };
}

describe("a broker's shared channel", () => {
  it("CH1: is one while no request is out, and none while one is", async () => {
    const { channels, shared, sendOn, answers, made } = createChannels();
    const channel = shared(ONE);
    expect([shared(ONE), shared(TWO)?.place, made()]).toEqual([channel, TWO, 2]);
    expect(channels.setAsideAtMs(ONE)).toBeNull();
    const sent = sendOn(channel);
    expect([shared(ONE), made()]).toEqual([null, 2]);
    answers[0]?.resolve([]);
    expect(await sent).toEqual({ answers: [] });
    expect([shared(ONE), channel?.busySinceMs]).toEqual([channel, null]);
  });

  it("CH2, CH3: is set aside when its request is out for a second, and closed when that was answered", async () => {
    const { channels, shared, sendOn, said, answers } = createChannels();
    await pass(50);
    const stuck = shared(ONE);
    const sent = sendOn(stuck);
    expect([channels.setAsideAtMs(ONE), channels.setAsideAtMs(TWO)]).toEqual([1050, null]);
    await pass(999);
    expect(shared(ONE)).toBeNull();
    await pass(1);
    const next = shared(ONE);
    expect(next).not.toBe(stuck);
    expect([shared(ONE), said]).toEqual([next, []]);
    answers[0]?.resolve([]);
    await sent;
    if (stuck !== null) channels.answered(stuck);
    if (next !== null) channels.answered(next);
    await pass(0);
    expect(said).toEqual(["0@one goodbye", "0@one destroyed"]);
    expect(shared(ONE)).toBe(next);
  });

  it.each([
    { ...ONE, host: "elsewhere" },
    { ...ONE, port: 9093 },
  ])("is left when its broker has moved to $host:$port", async (moved) => {
    const { channels, shared, sendOn, said, answers } = createChannels();
    const before = shared(ONE);
    const after = shared(moved);
    expect(after?.place).toBe(moved);
    await pass(0);
    expect(said).toEqual(["0@one goodbye", "0@one destroyed"]);
    expect(after).not.toBe(before);
    // With a request out it is only set aside.
    const sent = sendOn(after);
    expect(shared(ONE)?.place).toBe(ONE);
    answers[0]?.resolve([]);
    await sent;
    expect(said).toHaveLength(2);
    if (after !== null) channels.answered(after);
    expect(said.at(-1)).toBe(`1@${moved.host} goodbye`);
  });

  it("CH4: is thrown away when its request failed, and no other is", async () => {
    const { channels, shared, sendOn, said, answers } = createChannels();
    const [one, two] = [shared(ONE), shared(TWO)];
    const sent = sendOn(one);
    answers[0]?.reject(new Error("cut"));
    expect(await sent).toEqual({ failure: new Error("cut"), isTimeout: false });
    if (one !== null) channels.failed(one);
    expect(said).toEqual(["0@one destroyed"]);
    expect([shared(TWO), shared(ONE) === one]).toEqual([two, false]);
  });

  it("CH4: stays when a channel failed that its broker's requests no longer share", async () => {
    const { channels, shared, sendOn } = createChannels();
    const stuck = shared(ONE);
    void sendOn(stuck);
    await pass(1000);
    const next = shared(ONE);
    if (stuck !== null) channels.failed(stuck);
    expect(shared(ONE)).toBe(next);
  });
});

describe("a channel that is aside", () => {
  it("CH2: is one of eight of its broker at the most, and lets another be made when it was answered or failed", () => {
    const { channels, shared, sendOn } = createChannels();
    const aside = Array.from({ length: MAX_ASIDE }, () => channels.aside(ONE));
    expect([aside.includes(null), channels.aside(ONE), channels.aside(TWO) === null]).toEqual([false, null, false]);
    // Nor is the shared one set aside then, however long its request is out.
    const busy = shared(ONE);
    void sendOn(busy);
    expect([channels.setAsideAtMs(ONE), channels.shared(ONE, performance.now() + 9000)]).toEqual([null, null]);
    const [first, second] = aside;
    if (first) channels.answered(first);
    expect(channels.setAsideAtMs(ONE)).toBe(performance.now() + 1000);
    expect([channels.aside(ONE) === null, channels.aside(ONE)]).toEqual([false, null]);
    if (second) channels.failed(second);
    expect(channels.aside(ONE)).not.toBeNull();
  });
});

describe("a request", () => {
  it("is a timeout when no answer came in time, and not when the connect took too long", async () => {
    const { shared, sendOn, behaviour } = createChannels();
    const [one, two] = [shared(ONE), shared(TWO)];
    const unanswered = sendOn(one);
    await pass(10_000);
    expect(await unanswered).toMatchObject({ failure: { code: "deadline_exceeded" }, isTimeout: true });
    behaviour.connect = () => new Promise(() => {});
    const unconnected = sendOn(two);
    await pass(5000);
    expect(await unconnected).toMatchObject({ failure: { code: "deadline_exceeded" }, isTimeout: false });
  });
});

describe("closing", () => {
  it("disconnects idle channels, destroys busy ones, and keeps none", async () => {
    const { channels, shared, sendOn, said } = createChannels();
    void sendOn(shared(ONE));
    shared(TWO);
    channels.aside(TWO);
    await channels.close();
    expect(said.toSorted()).toEqual(
      ["0@one destroyed", "1@two goodbye", "1@two destroyed", "2@two goodbye", "2@two destroyed"].toSorted(),
    );
    await channels.close();
    expect(said).toHaveLength(5);
  });

  it("waits a second at the most for a broker that does not answer a disconnect", async () => {
    const { channels, shared, said, behaviour } = createChannels();
    behaviour.disconnect = () => new Promise(() => {});
    shared(ONE);
    let isClosed = false;
    void channels.close().then(() => {
      isClosed = true;
    });
    await pass(999);
    expect([isClosed, said]).toEqual([false, ["0@one goodbye"]]);
    await pass(1);
    expect([isClosed, said]).toEqual([true, ["0@one goodbye", "0@one destroyed"]]);
  });
});
