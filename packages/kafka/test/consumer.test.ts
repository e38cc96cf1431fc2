/** Rules: CN1 and CN2 of owned-partitions.ts, FT1 of fill-ticks.ts. */
import { PosthasteError } from "@posthaste/core/errors";
import { KafkaJSNonRetriableError } from "kafkajs";
import { describe, expect, it } from "vitest";
import { FakeGroup } from "./fake-group.ts";
import { close, connectionCut, joined, pass, refusal, useFakeTime } from "./fake-group-time.ts";

useFakeTime();

describe("a windowed consumer that starts", () => {
  it("subscribes from the beginning and commits nothing but by itself", async () => {
    const group = new FakeGroup();
    expect([group.asked, group.consumer.isReady]).toEqual([[], false]);
    await group.consumer.start();
    expect(group.takeAsked()).toEqual(["subscribe t from the beginning", "run"]);
    expect(group.consumer.isReady).toBe(false);
    await expect(group.consumer.start()).rejects.toMatchObject({ code: "closed" });
    await close(group);
  });

  it("waits for brokers that do not answer yet, and no longer when it is stopped", async () => {
    const group = new FakeGroup();
    let tries = 0;
    group.connect = async () => {
      tries += 1;
      if (tries < 4) throw connectionCut();
    };
    const starting = group.consumer.start();
    for (const [afterMs, tried] of [
      [99, 1],
      [1, 2],
      [199, 2],
      [1, 3],
      [399, 3],
      [1, 4],
    ] as const) {
      await pass(afterMs);
      expect(tries).toBe(tried);
    }
    await starting;
    await close(group);

    const stopped = new FakeGroup();
    stopped.connect = () => Promise.reject(connectionCut());
    const refused = expect(stopped.consumer.start()).rejects.toMatchObject({ code: "closed" });
    await pass(0);
    await stopped.consumer.stop();
    await pass(500);
    await refused;
    expect(stopped.asked).toEqual(["disconnect"]);
  });

  it("does not begin when it was stopped while it connected", async () => {
    const group = new FakeGroup();
    const connected = Promise.withResolvers<void>();
    group.connect = () => connected.promise;
    const refused = expect(group.consumer.start()).rejects.toMatchObject({ code: "closed" });
    await group.consumer.stop();
    connected.resolve();
    await refused;
    expect(group.asked).not.toContain("run");
  });

  it("rejects as stopped, whatever its client, which the stop destroyed, says of the brokers", async () => {
    const group = new FakeGroup();
    const [connecting, connected] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    group.connect = () => {
      connecting.resolve();
      return connected.promise;
    };
    const refused = expect(group.consumer.start()).rejects.toMatchObject({ code: "closed" });
    await connecting.promise;
    await group.consumer.stop();
    connected.reject(new KafkaJSNonRetriableError("Failed to connect: brokers array is empty"));
    await refused;
  });

  it("looks for a broker for longer than the limit of a standstill, and works without metrics", async () => {
    const group = new FakeGroup({}, false);
    expect(group.clientOptions).toMatchObject({ retry: { retries: 1_000_000_000, maxRetryTime: 500 } });
    await group.consumer.start();
    await group.join([0]);
    group.onCommit = () => Promise.reject(refusal("REBALANCE_IN_PROGRESS"));
    await pass(1000);
    expect([group.failures, group.consumer.isReady]).toEqual([[], true]);
    await close(group);
  });

  it("rejects for what no waiting mends, and with what it failed of meanwhile", async () => {
    const group = new FakeGroup();
    group.connect = () => Promise.reject(new PosthasteError("topic_missing", "no topic"));
    await expect(group.consumer.start()).rejects.toMatchObject({ code: "topic_missing" });
    const crashed = new FakeGroup();
    crashed.onRun = () => crashed.crash(new Error("it broke"));
    const reason: unknown = await crashed.consumer.start().catch((error: unknown) => error);
    expect(crashed.failures).toEqual([reason]);
  });
});

describe("a fetch", () => {
  it("waits a second while every partition is fetched, and is over soon while one is to be resumed", async () => {
    const group = await joined([0, 1]);
    expect(await group.fetchWaitMs()).toBe(1000);
    await group.fetch(1, 5, 20);
    expect(group.takeAsked()).toContain("pause 1");
    expect(await group.fetchWaitMs()).toBe(20);
    for (let offset = 5; offset < 15; offset += 1) group.finish(offset, 1);
    expect(group.takeAsked()).toContain("resume 1");
    expect(await group.fetchWaitMs()).toBe(1000);
    await close(group);
  });

  it("is over soon while a partition's place is sought, and while the consumer stops", async () => {
    const group = new FakeGroup();
    group.onOffsetFetch = () => new Promise(() => {});
    await group.consumer.start();
    await group.join([0]);
    await pass(0);
    expect(await group.fetchWaitMs()).toBe(20);
    await close(group);
    expect(await group.fetchWaitMs()).toBe(20);
    const other = await joined([0]);
    await other.fetch(0, 5, 1);
    const stopped = other.consumer.stop();
    expect(await other.fetchWaitMs()).toBe(20);
    other.finish(5);
    await pass(0);
    await stopped;
  });

  it("waits as the settings say, and longer than a retry topic's only while nothing is paused", async () => {
    const retries = await joined([0], { delayMsOf: () => 1000, timing: { idleMaxWaitMs: 300 } });
    expect(await retries.fetchWaitMs()).toBe(300);
    await retries.consumer.stop();
    expect(await retries.fetchWaitMs()).toBe(100);
    const short = await joined([0], { timing: { maxWaitMs: 1700 } });
    expect(await short.fetchWaitMs()).toBe(1700);
    await close(short);
  });
});

describe("a partition that is gained", () => {
  it("CN2: is paused until its place is found, and fetched from there", async () => {
    const group = new FakeGroup();
    group.committed.set(1, 7);
    const found = Promise.withResolvers<void>();
    group.onOffsetFetch = () => found.promise;
    await group.consumer.start();
    group.takeAsked();
    await group.join([0, 1]);
    await pass(0);
    expect([group.takeAsked(), group.consumer.isReady, group.assigned]).toEqual([["pause 0", "pause 1"], false, []]);
    found.resolve();
    await pass(0);
    expect(group.takeAsked()).toEqual(["seek 0 to 0", "resume 0", "seek 1 to 7", "resume 1"]);
    expect([group.consumer.isReady, group.assigned]).toEqual([true, group.consumer.owned()]);
    expect(group.counted).toEqual(["rebalance g 0", "commit failure g 0", "rebalance g"]);
    expect(group.logged).toContainEqual({ event: "group_joined", group: "g", kept: 0, lost: 0, gained: 2 });
    await close(group);
  });

  it("is sought again while the brokers do not say its place, and begins beside one that has no leader", async () => {
    const group = new FakeGroup();
    group.ends.delete(1);
    let asked = 0;
    group.onOffsetFetch = async () => {
      asked += 1;
      if (asked === 1) throw connectionCut();
    };
    await group.consumer.start();
    await group.join([0, 1]);
    await pass(0);
    expect([asked, group.assigned.length]).toEqual([1, 0]);
    await pass(100);
    expect(group.assigned.map(({ partition }) => partition)).toEqual([0]);
    expect(group.consumer.isReady).toBe(false);
    group.ends.set(1, 3);
    await pass(1000);
    expect(group.assigned.map(({ partition }) => partition)).toEqual([0, 1]);
    const times = asked;
    await pass(5000);
    expect([asked, group.consumer.isReady]).toEqual([times, true]);
    await close(group);
  });

  it("ends the consumer when its offset is outside the log on three looks, and not before", async () => {
    const group = new FakeGroup();
    group.committed.set(0, 101);
    await group.consumer.start();
    await group.join([0]);
    await pass(250);
    expect(group.failures).toEqual([]);
    await pass(100);
    expect(group.failures).toMatchObject([{ code: "offset_out_of_range" }]);
    const [recovers] = [new FakeGroup()];
    recovers.committed.set(0, 101);
    await recovers.consumer.start();
    await recovers.join([0]);
    await pass(150);
    recovers.ends.set(0, 101);
    await pass(500);
    expect([recovers.failures, recovers.consumer.isReady]).toEqual([[], true]);
    await close(recovers);
  });

  it("CN1: begins nowhere when another join came before its place was found", async () => {
    const group = new FakeGroup();
    const slow = Promise.withResolvers<void>();
    let asked = 0;
    group.onOffsetFetch = async () => {
      asked += 1;
      if (asked === 1) await slow.promise;
    };
    await group.consumer.start();
    await group.join([0]);
    await group.join([0]);
    await pass(0);
    expect(group.takeAsked().slice(-2)).toEqual(["seek 0 to 0", "resume 0"]);
    slow.resolve();
    await pass(1000);
    expect([group.takeAsked(), asked, group.assigned.length]).toEqual([[], 2, 1]);
    // The same where it failed.
    const lost = new FakeGroup();
    const fails = Promise.withResolvers<void>();
    lost.onOffsetFetch = () => fails.promise;
    await lost.consumer.start();
    await lost.join([0]);
    await pass(0);
    await lost.join([]);
    fails.reject(new PosthasteError("topic_missing", "no topic"));
    await pass(1000);
    expect([lost.failures, lost.consumer.isReady]).toEqual([[], true]);
    await close(group);
    await close(lost);
  });
});

describe("what a fetch brings", () => {
  it("runs in the window of its partition, and moves kafkajs on when it was taken", async () => {
    const group = await joined([0, 1]);
    expect(await group.fetch(1, 5, 2)).toBe("6");
    expect(await group.fetch(0, 5, 1)).toBe("5");
    expect(group.names).toEqual(["1:5", "1:6", "0:5"]);
    expect(await group.fetch(0, 9, 1)).toBeNull();
    expect(await group.fetch(2, 5, 1)).toBeNull();
    expect(await group.fetch(0, 6, 1, "another")).toBeNull();
    expect(group.names).toHaveLength(3);
    await close(group);
  });

  it("C9: is passed over where it holds no record", async () => {
    const group = await joined([0, 1]);
    group.begins(0, 0, 5, 8);
    group.begins(1, 3, 5, 8);
    group.begins(2, 0, 5, 8);
    await pass(100);
    expect(group.commits.at(-1)).toEqual({ 0: 9, 1: 5 });
    await close(group);
  });

  it("commits what is finished, once in so long, and says what was refused", async () => {
    const group = await joined([0]);
    await pass(100);
    await group.fetch(0, 5, 2);
    group.finish(5);
    let answer: () => Promise<unknown> = () => Promise.reject(refusal("REBALANCE_IN_PROGRESS"));
    group.onCommit = () => answer();
    await pass(100);
    expect(group.counted.slice(2)).toEqual(["rebalance g", "commit failure g"]);
    expect(group.logged.at(-1)).toMatchObject({ event: "commit_refused", group: "g", failures: 1 });
    const lines = group.logged.length;
    await pass(300);
    // The second to the fourth in a row: not every one is a line.
    expect(group.counted.filter((name) => name === "commit failure g")).toHaveLength(4);
    expect(group.logged.length - lines).toBeLessThan(3);
    answer = async () => ({});
    await pass(100);
    expect(group.committed.get(0)).toBe(6);
    await close(group);
  });

  it("FT1: has the windows' fill decided until nothing is left to decide, and again from the next join and fetch on", async () => {
    let isBusy = false;
    let asked = 0;
    const workingSet = {
      ...{ records: 4, leastShare: 1, isHeldUp: () => false },
      isBusy: () => {
        asked += 1;
        return isBusy;
      },
    };
    const group = await joined([0], { workingSet });
    /** How often it was asked in a second, the time that a wake-up begins with included. */
    const inASecond = async (act: () => Promise<unknown> = async () => {}) => {
      const before = asked;
      await act();
      await pass(1000);
      return asked - before;
    };
    expect(await inASecond()).toBe(1);
    expect(await inASecond()).toBe(0);
    expect(await inASecond(() => group.join([0, 1]))).toBe(2);
    expect(await inASecond(() => group.fetch(0, 5, 1))).toBe(11);
    group.finish(5);
    expect(await inASecond()).toBe(1);
    isBusy = true;
    expect(await inASecond(() => group.fetch(0, 6, 1))).toBe(11);
    await close(group);
    expect(await inASecond()).toBe(0);
  });

  it("shows its lag, and counts what waits in retry topics", async () => {
    const group = await joined([0]);
    await group.fetch(0, 5, 2);
    await pass(1000);
    expect(group.gauges.get("lag t 0")).toBe(95);
    expect(group.gauges.get("seconds t 0")).toBeCloseTo(Date.now() / 1000, 3);
    expect(group.gauges.has("waiting t")).toBe(false);
    await close(group);
    expect([...group.gauges]).toEqual([]);
    const retry = await joined([0, 1], { delayMsOf: () => 10_000 });
    await retry.fetch(0, 5, 2);
    await pass(1000);
    expect(retry.gauges.get("waiting t")).toBeGreaterThan(90);
    await close(retry);
  });

  it("lets another partition be the first each time that backpressure ends", async () => {
    let isHolding = true;
    let release = () => {};
    const backpressure = {
      get isHolding() {
        return isHolding;
      },
      onReleased: (listener: () => void) => {
        release = listener;
      },
    };
    const group = await joined([0, 1, 2], { backpressure });
    for (const partition of [0, 1, 2]) await group.fetch(partition, 5, 1);
    expect(group.names).toEqual([]);
    isHolding = false;
    release();
    expect(group.names).toEqual(["1:5", "2:5", "0:5"]);
    await close(group);
  });

  it("waits for a schema that cannot be fetched, and ends nothing", async () => {
    let tries = 0;
    const schemaOf = () => {
      tries += 1;
      if (tries > 2) return undefined;
      return Promise.reject(new PosthasteError("registry_unavailable", "no registry", { retryable: true }));
    };
    const group = await joined([0], { schemaOf });
    await group.fetch(0, 5, 1);
    await pass(0);
    expect([group.names, group.failures]).toEqual([[], []]);
    await pass(2000);
    expect([group.names, group.failures]).toEqual([["0:5"], []]);
    expect(group.logged).toContainEqual(expect.objectContaining({ event: "consumer_waits_for_schema", group: "g" }));
    await close(group);
  });
});
