/** Rules: CN4 and CN5 of consumer.ts. */
import { PosthasteError } from "@posthaste/core/errors";
import { describe, expect, it } from "vitest";
import { FakeGroup } from "./fake-group.ts";
import { close, joined, pass, refusal, useFakeTime } from "./fake-group-time.ts";

useFakeTime();

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

  it("needs no broker any more when it has left the group", async () => {
    const group = await joined([]);
    group.disconnect = () => new Promise(() => {});
    const stopped = group.consumer.stop();
    await pass(0);
    expect([group.takeAsked().at(-1), group.destroyed]).toEqual(["disconnect", 0]);
    group.left();
    expect(group.destroyed).toBe(1);
    await pass(3000);
    await stopped;
  });

  it("asks no more whether its topics were recreated (CN5)", async () => {
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
  it("CN4: says so once, gives everything up and takes no leave of its group", async () => {
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
    for (let heartbeats = 0; heartbeats < 4; heartbeats++) {
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
    for (let heartbeats = 0; heartbeats < 4; heartbeats++) {
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

  it("C7: counts a standstill from its first join, however long that took", async () => {
    const group = new FakeGroup();
    group.committed.set(0, 5);
    group.ends.set(0, 5);
    group.onCommit = () => Promise.reject(refusal("REBALANCE_IN_PROGRESS"));
    await group.consumer.start();
    await pass(50_000);
    await group.join([0]);
    await pass(59_000);
    expect(group.failures).toEqual([]);
    await pass(2000);
    expect(group.failures).toMatchObject([{ code: "group_stalled" }]);
  });

  it("logs each failure under `err`, where a logger keeps its message and stack", async () => {
    const group = await joined([0]);
    const unreachable = new PosthasteError("broker_unavailable", "none", { retryable: true });
    group.onAdmin = () => Promise.reject(unreachable);
    await group.join([0, 1]);
    await pass(5000);
    const reason = new Error("it broke");
    group.crash(reason);
    const logged = (event: string) => group.logged.find((fields) => fields["event"] === event);
    expect(logged("places_unknown")).toMatchObject({ group: "g", failures: 1, err: unreachable });
    expect(logged("end_offsets_unknown")).toMatchObject({ err: unreachable });
    expect(logged("consumer_failed")).toMatchObject({ group: "g", err: { cause: reason } });
    expect(group.logged.filter((fields) => "error" in fields)).toEqual([]);
  });
});
