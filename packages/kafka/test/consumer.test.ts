import { PosthasteError } from "@posthaste/core/errors";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeGroup } from "./fake-group.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const connectionCut = () => Object.assign(new Error("cut"), { name: "KafkaJSConnectionError" });
const refusal = (type: string) => Object.assign(new Error(type), { name: "KafkaJSProtocolError", type });

/** Stops it, whatever still runs. */
async function close({ consumer }: FakeGroup): Promise<void> {
  const stopped = consumer.stop();
  await pass(10_000);
  await stopped;
}

/** A consumer that joined and owns these partitions, committed at 5. */
async function joined(partitions: readonly number[], options: ConstructorParameters<typeof FakeGroup>[0] = {}) {
  const group = new FakeGroup(options);
  for (const partition of [0, 1, 2]) group.committed.set(partition, 5);
  await group.consumer.start();
  await group.join(partitions);
  await pass(0);
  return group;
}

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

  it("looks for a broker for longer than the limit of a standstill, and works without metrics", async () => {
    const group = new FakeGroup({}, false);
    expect(group.clientOptions).toMatchObject({ retry: { retries: 300, maxRetryTime: 500 } });
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
  it("waits half a second for records while every partition is fetched, and is over soon while one waits to be resumed", async () => {
    const group = await joined([0, 1]);
    expect(await group.fetchWaitMs()).toBe(500);
    await group.fetch(1, 5, 20);
    expect(group.takeAsked()).toContain("pause 1");
    expect(await group.fetchWaitMs()).toBe(20);
    for (let offset = 5; offset < 15; offset += 1) group.finish(offset, 1);
    expect(group.takeAsked()).toContain("resume 1");
    expect(await group.fetchWaitMs()).toBe(500);
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
    const short = await joined([0], { timing: { maxWaitMs: 700 } });
    expect(await short.fetchWaitMs()).toBe(700);
    await close(short);
  });
});

describe("a partition that is gained", () => {
  it("X2: is paused until its place is found, and fetched from there", async () => {
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

  it("X1: begins nowhere when another join came before its place was found", async () => {
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

  it("gives the first of the room to another partition each time that backpressure ends", async () => {
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
    const prefetch = () => {
      tries += 1;
      if (tries > 2) return undefined;
      return Promise.reject(new PosthasteError("registry_unavailable", "no registry", { retryable: true }));
    };
    const group = await joined([0], { prefetch });
    await group.fetch(0, 5, 1);
    await pass(0);
    expect([group.names, group.failures]).toEqual([[], []]);
    await pass(2000);
    expect([group.names, group.failures]).toEqual([["0:5"], []]);
    expect(group.logged).toContainEqual(expect.objectContaining({ event: "consumer_waits_for_schema", group: "g" }));
    await close(group);
  });
});

describe("a join of a consumer that runs", () => {
  it("C4: waits for what runs, starts nothing meanwhile, and commits what was finished first", async () => {
    const group = await joined([0, 1]);
    await group.fetch(0, 5, 2);
    await group.fetch(1, 5, 1);
    await pass(100);
    const commits = group.commits.length;
    let began = 0;
    const first = group.beginJoin().then(() => (began += 1));
    const second = group.beginJoin().then(() => (began += 1));
    await pass(0);
    expect(group.takeAsked().slice(-2)).toEqual(["pause 0", "pause 1"]);
    group.finish(5);
    group.finish(6);
    await group.fetch(0, 7, 1);
    await pass(50);
    expect([began, group.names]).toEqual([0, ["0:5", "0:6", "1:5"]]);
    group.finish(5, 1);
    await Promise.all([first, second]);
    expect(group.commits.slice(commits)).toEqual([{ 0: 7, 1: 6 }]);
    await group.endJoin([0, 1]);
    await pass(0);
    await close(group);
  });

  it("C4: waits a second at the most for what runs, and a second for the last commit", async () => {
    const group = await joined([0]);
    await group.fetch(0, 5, 1);
    await pass(100);
    group.onCommit = () => new Promise(() => {});
    let isBegun = false;
    const begun = group.join([0]).then(() => {
      isBegun = true;
    });
    await pass(999);
    expect(isBegun).toBe(false);
    await pass(1);
    await begun;
    // The next one drains anew, and its commit is not answered.
    group.finish(5);
    await pass(100);
    const again = group.beginJoin().then(() => "begun");
    const outcome = Promise.race([again, pass(999).then(() => "waits")]);
    expect(await outcome).toBe("waits");
    await pass(1);
    expect(await again).toBe("begun");
    await close(group);
  });

  it("C5: keeps what stays, gives up what is lost, and begins what is gained", async () => {
    const group = await joined([0, 1]);
    await group.fetch(0, 5, 2);
    await group.fetch(1, 5, 1);
    group.finish(5);
    group.takeAsked();
    const [kept, lost] = group.consumer.owned();
    const joining = group.join([0, 2]);
    await pass(1000);
    await joining;
    await pass(0);
    expect(group.takeAsked()).toEqual([
      ...["pause 0", "pause 1"],
      ...["pause 2", "seek 0 to 7", "resume 0", "seek 2 to 5", "resume 2"],
    ]);
    expect(group.revoked).toEqual([lost]);
    expect(group.consumer.owned()[0]).toBe(kept);
    expect([kept?.isRevoked, lost?.isRevoked]).toEqual([false, true]);
    expect(group.logged).toContainEqual({ event: "group_joined", group: "g", kept: 1, lost: 1, gained: 1 });
    group.finish(6);
    await pass(100);
    expect(group.committed.get(0)).toBe(7);
    await close(group);
  });

  it("C5: keeps nothing that another may have owned in between", async () => {
    const group = await joined([0]);
    const [before] = group.consumer.owned();
    await group.join([0], 2);
    await pass(0);
    expect([group.revoked, before?.isRevoked]).toEqual([[before], true]);
    expect(group.assigned).toHaveLength(2);
    await close(group);
  });

  it("has nothing to wait for when nothing is owned or runs", async () => {
    const group = new FakeGroup();
    await group.consumer.start();
    await group.join([]);
    expect(group.consumer.isReady).toBe(true);
    await group.join([0]);
    await pass(0);
    let isBegun = false;
    void group.beginJoin().then(() => {
      isBegun = true;
    });
    await pass(0);
    expect(isBegun).toBe(true);
    await close(group);
  });
});

describe("a consumer that is stopped", () => {
  it("drains, commits, leaves the group at once and gives everything up", async () => {
    const group = await joined([0, 1]);
    await group.fetch(0, 5, 1);
    await pass(100);
    group.takeAsked();
    const windows = group.consumer.owned();
    let isStopped = false;
    const stopped = group.consumer.stop().then(() => {
      isStopped = true;
    });
    expect(group.consumer.stop()).toBeInstanceOf(Promise);
    await pass(3000);
    expect([isStopped, group.takeAsked(), group.consumer.isReady]).toEqual([false, ["pause 0", "pause 1"], false]);
    group.finish(5);
    await stopped;
    expect([group.committed.get(0), group.takeAsked(), group.destroyed]).toEqual([6, ["disconnect"], 1]);
    expect([group.revoked, group.consumer.owned()]).toEqual([windows, []]);
    await pass(60_000);
    expect([group.failures, group.commits.at(-1)]).toEqual([[], { 0: 6 }]);
  });

  it("asks no more whether its topics were made anew (X5)", async () => {
    const group = new FakeGroup({ topicIds: new Map([["t", "an id that no broker of this group tells"]]) });
    await group.consumer.start();
    const asked = () => group.logged.filter(({ event }) => event === "topic_ids_unknown").length;
    await pass(5000);
    expect(asked()).toBe(1);
    await group.consumer.stop();
    await pass(60_000);
    expect(asked()).toBe(1);
  });

  it("waits six seconds at the most for what runs", async () => {
    const group = await joined([0]);
    await group.fetch(0, 5, 1);
    let isStopped = false;
    const stopped = group.consumer.stop().then(() => {
      isStopped = true;
    });
    await pass(5999);
    expect(isStopped).toBe(false);
    await pass(1);
    await stopped;
  });

  it.each([
    [["broker:9092"], 3000],
    [[], 500],
  ])("takes leave of brokers of which %j answer for %i ms at the most", async (answering, leaveMs) => {
    const group = await joined([]);
    group.answering = answering;
    group.disconnect = () => new Promise(() => {});
    let isStopped = false;
    void group.consumer.stop().then(() => {
      isStopped = true;
    });
    await pass(leaveMs - 1);
    expect([isStopped, group.destroyed]).toEqual([false, 0]);
    await pass(1);
    expect([isStopped, group.destroyed]).toEqual([true, 1]);
  });

  it("neither gains partitions nor starts anything by a join that comes meanwhile", async () => {
    const group = await joined([0]);
    await group.fetch(0, 5, 1);
    group.takeAsked();
    const stopped = group.consumer.stop();
    const joining = group.join([0, 1]);
    await pass(1000);
    await joining;
    await group.fetch(0, 6, 1);
    expect([group.names, group.assigned.length, group.consumer.owned().length]).toEqual([["0:5"], 1, 1]);
    expect(group.takeAsked()).toEqual(["pause 0", "pause 1"]);
    group.finish(5);
    await stopped;
    await group.join([0]);
    await pass(0);
    expect([group.consumer.owned(), group.counted.slice(2)]).toEqual([[], ["rebalance g", "rebalance g"]]);
  });

  it("was never started: it leaves nothing behind", async () => {
    const group = new FakeGroup();
    await group.consumer.stop();
    expect([group.asked, group.destroyed, group.commits]).toEqual([["disconnect"], 1, []]);
  });
});

describe("a consumer that fails", () => {
  it("X4: says so once, gives everything up and takes no leave of its group", async () => {
    const group = await joined([0]);
    await group.fetch(0, 5, 1);
    group.takeAsked();
    const [window] = group.consumer.owned();
    group.disconnect = () => Promise.reject(new Error("no connection"));
    group.crash(new Error("first"));
    group.crash(new Error("second"));
    expect(group.failures).toMatchObject([{ message: expect.stringContaining("group g crashed") }]);
    expect([group.revoked, group.destroyed, group.consumer.isReady]).toEqual([[window], 1, false]);
    expect(group.logged.at(-1)).toMatchObject({ event: "consumer_failed", group: "g" });
    const commits = group.commits.length;
    await pass(10_000);
    expect([group.commits.length, group.takeAsked()]).toEqual([commits, ["disconnect"]]);
    await group.consumer.stop();
    expect([group.asked, group.destroyed]).toEqual([[], 1]);
  });

  it("fails when a handler throws, and when kafkajs finds its position outside the log", async () => {
    const run = () => {
      throw new Error("a bug");
    };
    const group = await joined([0], { run });
    await group.fetch(0, 5, 1);
    expect(group.failures).toMatchObject([{ code: "internal" }]);
    const outside = await joined([0], { outOfRangeAdvice: "do this" });
    await expect(outside.resets(0)).rejects.toMatchObject({ type: "NOT_COORDINATOR_FOR_GROUP" });
    expect(outside.failures).toMatchObject([
      { code: "offset_out_of_range", message: "the position in t partition 0 is not in the log; do this" },
    ]);
  });

  it("C7: ends when its group has taken no commit for the limit, however often it joins", async () => {
    const group = await joined([0]);
    group.ends.set(0, 5);
    group.onCommit = () => Promise.reject(refusal("REBALANCE_IN_PROGRESS"));
    await pass(30_000);
    void group.join([0]);
    await pass(29_000);
    expect(group.failures).toEqual([]);
    await pass(2000);
    expect(group.failures).toMatchObject([{ code: "group_stalled" }]);
  });

  it("C7: stays while it owns nothing and heartbeats are answered, and ends without them", async () => {
    const group = await joined([]);
    for (let beats = 0; beats < 4; beats++) {
      await pass(30_000);
      await group.heartbeat();
    }
    expect(group.failures).toEqual([]);
    await pass(61_000);
    expect(group.failures).toMatchObject([{ code: "group_stalled" }]);
    // Of one that owns something only its commits count.
    const owner = await joined([0], { timing: { commitIntervalMs: 5000 } });
    owner.ends.set(0, 5);
    owner.onCommit = () => Promise.reject(refusal("REBALANCE_IN_PROGRESS"));
    for (let beats = 0; beats < 4; beats++) {
      await pass(16_000);
      await owner.heartbeat();
    }
    expect(owner.failures).toMatchObject([{ code: "group_stalled" }]);
  });

  it("C7: stays while its partitions bring something, though they never come to their end", async () => {
    const group = await joined([0], { run: (task) => task.finish() });
    for (let index = 0; index < 8; index += 1) {
      await group.fetch(0, 5 + index, 1);
      await pass(10_000);
    }
    expect(group.failures).toEqual([]);
    await close(group);
  });

  it("C7: looks often enough for a short limit", async () => {
    const group = await joined([0], { timing: { stallLimitMs: 400 } });
    await pass(399);
    expect(group.failures).toEqual([]);
    await pass(1);
    expect(group.failures).toMatchObject([{ code: "group_stalled" }]);
  });

  it("C7: ends when a partition that has records is not heard of for the limit", async () => {
    const group = await joined([0, 1]);
    await group.fetch(0, 5, 1);
    await group.fetch(1, 5, 95);
    for (let seconds = 0; seconds < 59; seconds += 1) await pass(1000);
    expect(group.failures).toEqual([]);
    await pass(3000);
    expect(group.failures).toMatchObject([{ message: "group g has fetched nothing of t partition 0 for 60 s" }]);
  });

  it("C7: ends when a partition's place is sought for the limit, through one join after another", async () => {
    const group = await joined([1]);
    group.ends.set(1, 5);
    await pass(5000);
    group.onAdmin = () => Promise.reject(new PosthasteError("broker_unavailable", "none", { retryable: true }));
    await group.join([0, 1]);
    await pass(40_000);
    await group.join([0, 1]);
    await pass(19_000);
    expect(group.failures).toEqual([]);
    await pass(2000);
    expect(group.failures).toMatchObject([{ message: "group g has fetched nothing of t partition 0 for 60 s" }]);
  });

  it("C7: forgets a partition that it sought and that another has now, and one that it gave up", async () => {
    const group = new FakeGroup();
    group.onAdmin = () => Promise.reject(new PosthasteError("broker_unavailable", "none", { retryable: true }));
    await group.consumer.start();
    await group.join([0]);
    await pass(10_000);
    group.onAdmin = async () => {};
    await group.join([1]);
    await pass(0);
    group.ends.set(1, 0);
    await group.join([2]);
    await pass(1000);
    group.ends.set(2, 0);
    await group.fetch(2, 0, 100);
    for (let seconds = 0; seconds < 70; seconds += 1) {
      await pass(1000);
      await group.fetch(2, 100, 1);
    }
    expect(group.failures).toEqual([]);
    await close(group);
  });
});
