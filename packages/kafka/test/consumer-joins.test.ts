/** Rule: CN1 of owned-partitions.ts. */
import { describe, expect, it } from "vitest";
import type { PartitionWindow } from "../src/consumer/windowed-consumer.ts";
import { FakeGroup } from "./fake-group.ts";
import { close, joined, pass, useFakeTime } from "./fake-group-time.ts";

useFakeTime();

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

  it("C4: waits for both as long as it is told, and a commit counts as refused no sooner", async () => {
    const timing = { rebalanceDrainMs: 3000, lastCommitMs: 9000, commitDeadlineMs: 12_000 };
    const group = await joined([0], { timing });
    await group.fetch(0, 5, 1);
    await pass(100);
    let isBegun = false;
    const begun = group.beginJoin().then(() => {
      isBegun = true;
    });
    await pass(2900);
    group.onCommit = () => new Promise(() => {});
    group.finish(5);
    await pass(8999);
    expect(isBegun).toBe(false);
    await pass(1);
    await begun;
    expect(group.counted).not.toContain("commit failure g");
    await close(group);
  });

  it("C4: has ended what its owner does beside the records, and tells what stayed", async () => {
    const beside = { begun: 0, end: () => {} };
    const kept: (readonly number[])[] = [];
    const onDrain = () => {
      beside.begun += 1;
      return new Promise<void>((resolve) => {
        beside.end = resolve;
      });
    };
    const onKept = (windows: readonly PartitionWindow[]) => void kept.push(windows.map(({ partition }) => partition));
    const group = await joined([0, 1], { onDrain, onKept });
    expect([beside.begun, kept]).toEqual([0, [[]]]);
    let isBegun = false;
    const joining = group.beginJoin().then(() => {
      isBegun = true;
    });
    await pass(999);
    expect([beside.begun, isBegun]).toEqual([1, false]);
    beside.end();
    await joining;
    await group.endJoin([1, 2]);
    await pass(0);
    expect([kept, group.revoked.map(({ partition }) => partition)]).toEqual([[[], [1]], [0]]);
    // No state stayed of partitions that another member may have owned in between; and a slow member is not waited for.
    const again = group.join([1, 2], 2);
    await pass(1000);
    await again;
    await pass(0);
    expect([beside.begun, kept]).toEqual([2, [[], [1], []]]);
    const stopped = group.consumer.stop();
    const last = group.join([1, 2]);
    await pass(1000);
    await last;
    beside.end();
    await pass(10_000);
    await stopped;
    expect([beside.begun, kept]).toEqual([4, [[], [1], []]]);
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

  it("C10: waits no longer for a commit of before the join, and commits what is finished after it", async () => {
    const group = await joined([0]);
    await pass(100);
    await group.fetch(0, 5, 2);
    group.onCommit = () => new Promise(() => {});
    group.finish(5);
    await pass(100);
    expect(group.commits.at(-1)).toEqual({ 0: 6 });
    group.onCommit = async () => ({});
    const joining = group.join([0]);
    await pass(2000);
    await joining;
    group.finish(6);
    await pass(100);
    expect(group.committed.get(0)).toBe(7);
    await close(group);
  });

  it("CN1: revives no search of an earlier join when the consumer ends", async () => {
    const group = new FakeGroup();
    const late = Promise.withResolvers<void>();
    let asked = 0;
    group.onOffsetFetch = async () => {
      asked += 1;
      if (asked === 1) await late.promise;
    };
    await group.consumer.start();
    await group.join([0]);
    await group.join([0]);
    await pass(0);
    expect(group.assigned).toHaveLength(1);
    await close(group);
    late.resolve();
    await pass(1000);
    expect([group.assigned.length, group.failures]).toEqual([1, []]);
  });

  it("CN1: revives no search of an earlier join when the group is joined once more", async () => {
    const group = new FakeGroup();
    const late = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let asked = 0;
    group.onOffsetFetch = async () => {
      asked += 1;
      await late[asked - 1]?.promise;
    };
    await group.consumer.start();
    for (let joins = 0; joins < 3; joins += 1) await group.join([0]);
    await pass(0);
    for (const each of late) each.resolve();
    await pass(1000);
    expect([asked, group.assigned.length]).toEqual([3, 1]);
    await close(group);
  });

  it("CN1: begins no search for gained partitions when a kept one ends the consumer", async () => {
    let asked = 0;
    const group = await joined([0], {
      window: { maxRecords: 1, maxBytes: 1_000_000 },
      take: ({ offset, value }) => {
        if (offset === 6) throw new Error("a bug");
        return String(value);
      },
    });
    group.onOffsetFetch = async () => {
      asked += 1;
    };
    await group.fetch(0, 5, 2);
    const joining = group.beginJoin();
    await pass(0);
    group.finish(5);
    await joining;
    await group.endJoin([0, 1]);
    await pass(1000);
    expect(group.failures).toMatchObject([{ code: "internal" }]);
    expect([asked, group.assigned.map(({ partition }) => partition)]).toEqual([0, [0]]);
  });

  it("tells each window which topic of Kafka's its offsets are of, where the cluster says so", async () => {
    const named = await joined([0], { topicIds: new Map([["t", "the-topic-s-own-id"]]) });
    expect(named.consumer.owned()).toMatchObject([{ topic: "t", topicId: "the-topic-s-own-id" }]);
    await close(named);
    const unnamed = await joined([0]);
    expect(unnamed.consumer.owned()[0]?.topicId).toBeUndefined();
    await close(unnamed);
  });
});
