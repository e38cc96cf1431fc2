import type { AcceptedLoss } from "@posthaste/contracts/accepted-loss";
import { decodeCommitMetadata, encodeCommitMetadata } from "@posthaste/core/window/commit-metadata";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KafkaConnection } from "../connection/connect.ts";
import { compareAssignment, locatePartitions, type StartingTerms, type TopicPartition } from "./rebalance.ts";

const place = fc.record({ topic: fc.constantFrom("a", "b"), partition: fc.nat(5) });
const places = fc.uniqueArray(place, { selector: ({ topic, partition }) => `${topic}:${partition}` });

function byTopic(each: readonly TopicPartition[]): Record<string, number[]> {
  const topics: Record<string, number[]> = {};
  for (const { topic, partition } of each) topics[topic] = [...(topics[topic] ?? []), partition];
  return topics;
}

const names = (each: readonly TopicPartition[]) => each.map(({ topic, partition }) => `${topic}:${partition}`).sort();

it("parts what was owned into kept and lost, and what is assigned into kept and gained (C5)", () => {
  fc.assert(
    fc.property(places, places, (owned, assigned) => {
      const { kept, lost, gained } = compareAssignment(owned, byTopic(assigned), true);
      expect(names([...kept, ...lost])).toEqual(names(owned));
      expect(names([...kept, ...gained])).toEqual(names(assigned));
      expect(names(kept)).toEqual(names(owned).filter((name) => names(assigned).includes(name)));
    }),
  );
});

it("keeps nothing when somebody else may have owned it in between", () => {
  const owned = [{ topic: "a", partition: 0 }];
  expect(compareAssignment(owned, { a: [0, 1] }, false)).toEqual({
    kept: [],
    lost: owned,
    gained: [
      { topic: "a", partition: 0 },
      { topic: "a", partition: 1 },
    ],
  });
});

/** Brokers that know the offsets of the partitions that have a leader. */
function connectionOf(partitions: number, led: readonly number[]): KafkaConnection {
  const admin = {
    fetchTopicOffsets: async () => led.map((partition) => ({ partition, low: "5", high: "9" })),
    fetchTopicMetadata: async () => ({
      topics: [{ partitions: Array.from({ length: partitions }, (_, partitionId) => ({ partitionId })) }],
    }),
  };
  const used = { withAdmin: (use: (given: typeof admin) => Promise<unknown>) => use(admin) };
  return used as unknown as KafkaConnection;
}

const session = {
  committed: async (gained: readonly TopicPartition[]) =>
    gained.map((each) => ({ ...each, offset: 7, metadata: null })),
};

const TERMS = { topicIds: new Map([["a", "this"]]) };

it("P1: finds where partitions begin beside one that has no leader, and leaves that one out", async () => {
  const gained = [0, 1, 2].map((partition) => ({ topic: "a", partition }));
  const places = await locatePartitions(connectionOf(3, [0, 2]), session, gained, TERMS);
  expect(places.map(({ partition, offset }) => [partition, offset])).toEqual([
    [0, 7],
    [2, 7],
  ]);
});

it("knows a partition that is not there from one that has no leader", async () => {
  const located = locatePartitions(connectionOf(2, [0, 1]), session, [{ topic: "a", partition: 2 }], TERMS);
  await expect(located).rejects.toMatchObject({ code: "topic_missing" });
});

it.each([
  ["of the same topic", "this", TERMS, { offset: 7, isKept: true }],
  ["of a topic that had the name before", "other", TERMS, { offset: 5, isKept: false }],
  ["that says no topic, as of an earlier version", null, TERMS, { offset: 7, isKept: true }],
  ["on a cluster that has no ids any more", "other", { topicIds: new Map() }, { offset: 7, isKept: true }],
])("begins behind a commit %s at the right offset", async (_, topicId, terms, { offset, isKept }) => {
  const metadata = encodeCommitMetadata(7, { topicId, finishedRuns: [{ from: 8, to: 9 }], state: "state" });
  const commits = { committed: async () => [{ topic: "a", partition: 0, offset: 7, metadata }] };
  const located = await locatePartitions(connectionOf(1, [0]), commits, [{ topic: "a", partition: 0 }], terms);
  expect(located).toEqual([{ topic: "a", partition: 0, offset, metadata: isKept ? metadata : null }]);
});

it("begins a topic that was recreated at its start, also where the commit lies beyond its end", async () => {
  const metadata = encodeCommitMetadata(1000, { topicId: "other", finishedRuns: [], state: null });
  const committed = async () => [{ topic: "a", partition: 0, offset: 1000, metadata }];
  const locate = (terms: StartingTerms) =>
    locatePartitions(connectionOf(1, [0]), { committed }, [{ topic: "a", partition: 0 }], terms);
  expect(await locate(TERMS)).toMatchObject([{ offset: 5 }]);
  await expect(locate({ topicIds: new Map([["a", "other"]]) })).rejects.toMatchObject({ code: "offset_out_of_range" });
});

/** Where a partition of a log from 5 to 9 begins that was committed so. */
async function placeOf(offset: number, metadata: string | null = null, terms: StartingTerms = TERMS) {
  const [found] = await locatePartitions(
    connectionOf(1, [0]),
    { committed: async (gained) => gained.map((each) => ({ ...each, offset, metadata })) },
    [{ topic: "a", partition: 0 }],
    terms,
  );
  return found;
}

it("C7: begins where the last owner committed, and at the log's start where nobody did", async () => {
  expect(await placeOf(5, "said")).toEqual({ topic: "a", partition: 0, offset: 5, metadata: "said" });
  expect(await placeOf(9, "said")).toEqual({ topic: "a", partition: 0, offset: 9, metadata: "said" });
  expect(await placeOf(0 - 1, "said")).toEqual({ topic: "a", partition: 0, offset: 5, metadata: null });
});

it.each([0, 4, 10])(
  "C7: says what to do where the committed offset is %i, which is outside the log",
  async (offset) => {
    const where = `the committed offset ${offset} of a partition 0 is outside the log, which goes from 5 to 9`;
    await expect(placeOf(offset)).rejects.toMatchObject({
      code: "offset_out_of_range",
      message: expect.stringContaining(`${where}; stop the group's processes`),
    });
    await expect(placeOf(offset, null, { ...TERMS, outOfRangeAdvice: "do this" })).rejects.toMatchObject({
      message: `${where}; do this`,
    });
  },
);

describe("C7: a partition whose records were deleted before they were finished", () => {
  const lossOf = (from: number, to: number, topicId: string | null = "this"): AcceptedLoss => {
    return { topic: "a", partition: 0, topicId, from, to, records: to - from, beforeMs: 1, atMs: 1 };
  };
  const accepting = (...acceptedLosses: readonly AcceptedLoss[]): StartingTerms => ({ ...TERMS, acceptedLosses });

  it.each([
    ["the whole", [lossOf(2, 5)]],
    ["the whole, in two parts", [lossOf(4, 5), lossOf(2, 4)]],
    ["the whole, on a cluster that had no ids then", [lossOf(2, 5, null)]],
  ])("begins at the log's start where %s was accepted", async (_, losses) => {
    expect(await placeOf(2, null, accepting(...losses))).toMatchObject({ offset: 5 });
  });

  it.each([
    ["a part", [lossOf(2, 4)]],
    ["what came later", [lossOf(3, 5)]],
    ["that of another topic of the name", [lossOf(2, 5, "other")]],
    ["that of another partition", [{ ...lossOf(2, 5), partition: 1 }]],
  ])("stops where %s was accepted", async (_, losses) => {
    await expect(placeOf(2, null, accepting(...losses))).rejects.toMatchObject({ code: "offset_out_of_range" });
  });

  it("stops beyond the log's end, whatever was accepted", async () => {
    await expect(placeOf(10, null, accepting(lossOf(10, 12)))).rejects.toMatchObject({ code: "offset_out_of_range" });
  });

  it("keeps what the commit says of the records that are left", async () => {
    const of = (...finishedRuns: readonly { from: number; to: number }[]) =>
      encodeCommitMetadata(2, { topicId: "this", finishedRuns, state: "state" });
    const placeAfter = async (metadata: string) => {
      const found = await placeOf(2, metadata, accepting(lossOf(2, 5)));
      return { ...found, metadata: decodeCommitMetadata(found?.offset ?? 0, found?.metadata ?? null) };
    };
    const later = { from: 7, to: 8 };
    expect(await placeAfter(of({ from: 3, to: 4 }, later))).toMatchObject({
      ...{ offset: 5, metadata: { topicId: "this", finishedRuns: [later], state: "state" } },
    });
    expect(await placeAfter(of({ from: 3, to: 6 }, later))).toMatchObject({
      offset: 6,
      metadata: { finishedRuns: [later] },
    });
    expect(await placeAfter(of({ from: 5, to: 6 }))).toMatchObject({ offset: 6, metadata: { finishedRuns: [] } });
  });
});

it("asks for the offsets of each topic once, and finds every place in its own", async () => {
  const gained = [
    { topic: "a", partition: 1 },
    { topic: "b", partition: 0 },
    { topic: "a", partition: 0 },
  ];
  const asked: string[] = [];
  const admin = {
    fetchTopicOffsets: async (topic: string) => {
      asked.push(topic);
      return [0, 1].map((partition) => ({ partition, low: "0", high: topic === "a" ? "9" : "20" }));
    },
    fetchTopicMetadata: async () => ({ topics: [] }),
  };
  const connection = { withAdmin: (use: (given: typeof admin) => Promise<unknown>) => use(admin) };
  const committed = async () =>
    gained.map((each) => ({ ...each, offset: each.topic === "a" ? 8 : 19, metadata: null }));
  const places = await locatePartitions(connection as unknown as KafkaConnection, { committed }, gained, TERMS);
  expect(places.map(({ topic, partition, offset }) => [topic, partition, offset])).toEqual([
    ["a", 1, 8],
    ["b", 0, 19],
    ["a", 0, 8],
  ]);
  expect(asked).toEqual(["a", "b"]);
});
