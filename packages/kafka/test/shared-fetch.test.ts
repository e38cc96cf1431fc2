import { eventually } from "@posthaste/testkit/eventually";
import { type FetchWatch, watchFetches } from "@posthaste/testkit/fetch-watch";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { describe, expect, it } from "vitest";
import type { KafkaConnection } from "../src/connection/connect.ts";
import { SYSTEM_CLOCK } from "../src/connection/system-clock.ts";
import { type FetchedTo, followLog, type LogReader, type LogReaderOptions } from "../src/log/log-reader.ts";
import { closing, connection, connectThroughProxy, producer, topic, useTopic } from "./use-topic.ts";

const PARTITIONS = [0, 1, 2];

interface Followed {
  readonly reader: LogReader;
  readonly offsets: readonly number[];
  readonly failures: readonly Error[];
}

/** A reader of a partition from its start, with the records that it read and its failure. */
async function follow(through: KafkaConnection, options: Partial<LogReaderOptions> = {}): Promise<Followed> {
  const offsets: number[] = [];
  const failures: Error[] = [];
  const reader = await followLog(through, {
    topic,
    partition: 0,
    from: "start",
    // A reader shares after a wait in which nothing came.
    maxWaitMs: 200,
    onRecords: (records) => void offsets.push(...records.map(({ offset }) => offset)),
    onFailure: (reason) => failures.push(reason),
    ...options,
  });
  closing.push(() => reader.close());
  return { reader, offsets, failures };
}

const followAll = (through: KafkaConnection) =>
  Promise.all(PARTITIONS.map((partition) => follow(through, { partition })));

const nameOf = (partition: number) => `${topic}/${partition}`;

const write = (partition: number) => producer.send([{ topic, key: null, value: Buffer.from("value"), partition }]);

/** Resolves when one fetch is out, and asks for these partitions; none of them is asked for beside it. */
const untilShared = (watch: FetchWatch<KafkaConnection>, partitions: readonly number[] = PARTITIONS) =>
  eventually(() => expect(watch.out()).toEqual([partitions.map(nameOf)]));

describe("LR6: readers in whose partitions nothing comes", () => {
  useTopic("idle", { partitions: 3 });

  it("ask in one fetch, that takes no records, and each reads what comes to its own", async () => {
    const watch = watchFetches(connection);
    const followed = await followAll(watch.connection);
    for (const partition of [...PARTITIONS, 1]) {
      await untilShared(watch);
      const { reader, offsets } = followed[partition] as Followed;
      // The record may be read before its write is answered.
      const written = offsets.length + 1;
      await write(partition);
      await reader.reached(written);
    }
    await untilShared(watch);
    expect(followed.map(({ offsets }) => offsets)).toEqual([[0], [0, 1], [0]]);
    const shared = watch.fetches.filter(({ partitions }) => partitions.length > 1);
    expect(shared.filter(({ maxBytes, maxPartitionBytes }) => maxBytes + maxPartitionBytes > 2)).toEqual([]);
  });

  it("SF1: are asked for at every moment, also while the others' fetch is out", async () => {
    const unasked: string[] = [];
    const watch: FetchWatch<KafkaConnection> = watchFetches(connection, () => {
      const asked = watch.out().flat();
      for (const name of followed.map(nameOf)) {
        const own = watch.fetches.findLast(({ partitions }) => partitions.length === 1 && partitions[0] === name);
        // A reader whose own fetch failed, as when the broker was slow to answer, connects anew first.
        if (!asked.includes(name) && own?.hasFailed === false) unasked.push(name);
      }
    });
    const followed: number[] = [];
    for (const partition of PARTITIONS) {
      await follow(watch.connection, { partition });
      followed.push(partition);
      // The next one comes while this fetch is out.
      await eventually(() => expect(watch.out()).toEqual([followed.map(nameOf)]));
    }
    expect(unasked).toEqual([]);
  });

  it("are told by and by that nothing came", async () => {
    const reported: FetchedTo[] = [];
    const watch = watchFetches(connection);
    await follow(watch.connection, { partition: 1 });
    await follow(watch.connection, { onFetched: (at) => reported.push(at) });
    await untilShared(watch, [0, 1]);
    const sharedMs = SYSTEM_CLOCK.monotonicMs();
    await eventually(() => expect(reported.at(-1)?.askedAt.monotonicMs).toBeGreaterThan(sharedMs));
    expect(reported.at(-1)).toMatchObject({ position: 0, end: 0 });
    await untilShared(watch, [0, 1]);
  });

  it("hear nothing more once they are closed, and the last one leaves no connection", async () => {
    const { proxy, through } = await connectThroughProxy();
    const watch = watchFetches(through);
    const [first, second, third] = await followAll(watch.connection);
    await untilShared(watch);
    await first?.reader.close();
    await untilShared(watch, [1, 2]);
    await write(0);
    await write(1);
    await second?.reader.reached(1);
    await untilShared(watch, [1, 2]);
    await second?.reader.close();
    await third?.reader.close();
    // One is the liveness watch's.
    await eventually(() => expect(proxy.connections).toBeLessThanOrEqual(1));
    expect(first?.offsets).toEqual([]);
  });

  it("SF3: read on when their connections are cut", async () => {
    const { proxy, through } = await connectThroughProxy();
    const watch = watchFetches(through);
    const followed = await followAll(watch.connection);
    for (const count of [1, 2]) {
      await untilShared(watch);
      proxy.cut();
      for (const partition of PARTITIONS) await write(partition);
      for (const { reader } of followed) await reader.reached(count);
    }
    expect(followed.map(({ offsets }) => offsets)).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
    ]);
  });

  it("SF3: are asked for again without the one whose topic was removed", async () => {
    const doomed = await createTopic(uniqueName("doomed"));
    const watch = watchFetches(connection);
    const gone = await follow(watch.connection, { topic: doomed, missingPatienceMs: 100 });
    await followAll(watch.connection);
    await eventually(() => expect(watch.out()).toEqual([[`${doomed}/0`, ...PARTITIONS.map(nameOf)].sort()]));
    await deleteTopics(doomed);
    await eventually(() => expect(gone.failures).toMatchObject([{ code: "topic_missing" }]));
    await untilShared(watch);
  });

  it("SF4: use their own connections every four minutes", async () => {
    let aheadMs = 0;
    const clock = { ...SYSTEM_CLOCK, monotonicMs: () => SYSTEM_CLOCK.monotonicMs() + aheadMs };
    const watch = watchFetches(connection);
    for (const partition of PARTITIONS) await follow(watch.connection, { partition, clock });
    await untilShared(watch);
    const before = watch.fetches.length;
    aheadMs = 4 * 60_000;
    await eventually(() => {
      const since = watch.fetches.slice(before).filter(({ partitions }) => partitions.length === 1);
      expect(new Set(since.flatMap(({ partitions }) => partitions))).toEqual(new Set(PARTITIONS.map(nameOf)));
    });
    await untilShared(watch);
  });
});
