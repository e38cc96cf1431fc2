import { createTopicNames, topicCatalogue } from "@posthaste/contracts/topics";
import { runCheck } from "@posthaste/doctor/check";
import { replicationFindings } from "@posthaste/doctor/replication-check";
import { type ConfiguredTopics, topicFindings } from "@posthaste/doctor/topic-check";
import type { DescribedTopic, PartitionCopies } from "@posthaste/kafka/topics/topic-admin";
import { settingsOf } from "@posthaste/kafka/topics/topic-plan";
import { describe, expect, it } from "vitest";
import { LagWatch } from "../health/lag-watch.ts";
import { ProcessClocks } from "../health/process-clocks.ts";

const names = createTopicNames("p");
const DAY_MS = 24 * 60 * 60 * 1000;
const WELL: PartitionCopies = { leader: 1, replicas: [1, 2, 3], inSync: [1, 2, 3] };

/** As the program makes them, three times each. */
function topicsWith(over: (name: string) => Partial<DescribedTopic> = () => ({})): readonly DescribedTopic[] {
  return topicCatalogue({ names, partitions: 2, retryDelaysMs: [10_000], keepMs: { audit: 500 * DAY_MS } }).map(
    (spec) => ({
      ...{ name: spec.name, partitions: spec.partitions, replicationFactor: 3 },
      settings: settingsOf(spec, { replicationFactor: 3, minInsyncReplicas: 2 }),
      copies: Array.from({ length: spec.partitions }, () => WELL),
      ...over(spec.name),
    }),
  );
}

const findingsOf = (topics: readonly DescribedTopic[], retryDelaysMs = [10_000], reported: ConfiguredTopics = {}) =>
  topicFindings({ names, retryDelaysMs, topics, reported }).map(({ state, what }) => `${state}: ${what}`);

describe("the check of the topics", () => {
  it("finds nothing where they are as the program makes them, whatever its settings", () => {
    expect(findingsOf(topicsWith())).toEqual([]);
  });

  it("finds nothing where somebody keeps records for longer", () => {
    const settings = (name: string) => topicsWith().find((topic) => topic.name === name)?.settings ?? new Map();
    const longer = topicsWith((name) =>
      name === names.events ? { settings: new Map([...settings(name), ["retention.ms", String(30 * DAY_MS)]]) } : {},
    );
    expect(findingsOf(longer)).toEqual([]);
  });

  it("names what is missing, also the retry topic of a schedule that some process runs with", () => {
    expect(findingsOf(topicsWith().filter(({ name }) => name !== names.deadLetters))).toEqual([
      "wrong: p.dead-letters is missing.",
    ]);
    expect(findingsOf(topicsWith(), [10_000, 30_000])).toEqual(["wrong: p.deliveries.retry-30s is missing."]);
  });

  it("names fewer partitions, fewer copies, and settings, of which those that lose records are wrong", () => {
    const settings = new Map([
      ...(topicsWith().find(({ name }) => name === names.attempts)?.settings ?? []),
      ["retention.ms", "1000"],
      ["compression.type", "gzip"],
    ]);
    const topics = topicsWith((name) => {
      if (name === names.attempts) return { settings };
      if (name === names.unrouted) return { partitions: 1 };
      return name === names.tokens ? { replicationFactor: 1 } : {};
    });
    expect(findingsOf(topics)).toEqual([
      "warning: p.tokens has 1 replicas, 3 wanted, as most others have.",
      "warning: p.tokens: min.insync.replicas is 2, and 1 is wanted.",
      "warning: p.attempts: compression.type is gzip, and producer is wanted.",
      "wrong: p.attempts: retention.ms is 1000, and 604800000 is wanted.",
      "warning: p.unrouted has 1 partitions where most others have 2.",
    ]);
  });

  it("names the one topic that has more than the others, and none of those", () => {
    const grown = topicsWith((name) => (name === names.attempts ? { partitions: 9, replicationFactor: 5 } : {}));
    expect(findingsOf(grown)).toEqual([
      "warning: p.attempts has 9 partitions, 2 wanted, as most others have.",
      "warning: p.attempts has 5 replicas, 3 wanted, as most others have.",
    ]);
    const half = topicsWith().slice(0, 2);
    const [one, other] = half.map((topic, index) => ({ ...topic, replicationFactor: 1 + index * 2 }));
    expect(findingsOf(one === undefined || other === undefined ? [] : [one, other])).toContain(
      `warning: ${one?.name} has 1 replicas, 3 wanted, as most others have.`,
    );
  });

  it("calls it wrong where a topic is divided that is read as one, whatever the others have", () => {
    const divided = topicsWith((name) => (name === names.audit ? { partitions: 3 } : {}));
    for (const reported of [{}, { partitions: 1 }, { partitions: 2 }]) {
      const found = topicFindings({ names, retryDelaysMs: [10_000], topics: divided, reported });
      expect(found.filter(({ what }) => what.startsWith("p.audit has"))).toEqual([
        {
          state: "wrong",
          what: "p.audit has 3 partitions, 1 wanted: nobody reads what stands in another than its first.",
          remedy: expect.stringContaining("send it what you copied"),
        },
      ]);
    }
  });

  it("goes by what control is told, whatever the topics have", () => {
    const reported = { partitions: 2, replicationFactor: 3, minInsyncReplicas: 2 };
    expect(findingsOf(topicsWith(), [10_000], reported)).toEqual([]);
    const found = findingsOf(topicsWith(), [10_000], { ...reported, partitions: 3, replicationFactor: 2 });
    expect(found).toContain("warning: p.events has 2 partitions where POSTHASTE_PARTITIONS says 3.");
    expect(found).toContain("warning: p.tokens has 3 replicas, 2 wanted, as control is told.");
    expect(findingsOf(topicsWith(), [10_000], { partitions: 1 })).toContain(
      "warning: p.events has 2 partitions, 1 wanted, as control is told.",
    );
    expect(findingsOf(topicsWith(), [10_000], { ...reported, minInsyncReplicas: 1 })).toContain(
      "warning: p.events: min.insync.replicas is 2, and 1 is wanted.",
    );
  });
});

describe("the check of the copies", () => {
  const copiesOf = (copies: PartitionCopies, brokers = 3) =>
    replicationFindings(
      topicsWith((name) => (name === names.events ? { copies: [WELL, copies] } : {})),
      brokers,
    );

  it("finds nothing where all are in step", () => {
    expect(copiesOf(WELL)).toEqual([]);
  });

  it.each([
    [
      "without a leader",
      { ...WELL, leader: -1, inSync: [] },
      "wrong",
      /^No broker leads p\.events\/1:/,
      /broker 1, 2, 3/,
    ],
    ["that takes no writes", { ...WELL, inSync: [1] }, "wrong", /^Too few copies of p\.events\/1 /, /broker 2, 3/],
    ["with a copy behind", { ...WELL, inSync: [1, 2] }, "warning", /^Copies of p\.events\/1 are behind/, /broker 3/],
  ] as const)("names a partition %s, and the brokers to bring back", (_, copies, state, what, remedy) => {
    expect(copiesOf(copies)).toEqual([
      { state, what: expect.stringMatching(what), remedy: expect.stringMatching(remedy) },
    ]);
  });

  it("counts partitions where there are many, and advises more copies where several brokers keep one", () => {
    const one = { leader: 1, replicas: [1], inSync: [1] };
    const topics = topicsWith(() => ({ replicationFactor: 1, copies: [one] }));
    expect(replicationFindings(topics, 1)).toMatchObject([
      { what: expect.stringMatching(/^Too few copies of \d+ part/) },
      { state: "warning", what: expect.stringMatching(/^The cluster has one broker/) },
    ]);
    const settings = new Map([["min.insync.replicas", "1"]]);
    expect(
      replicationFindings(
        topics.map((each) => ({ ...each, settings })),
        3,
      ),
    ).toMatchObject([
      {
        state: "warning",
        what: expect.stringContaining("on 3 brokers"),
        remedy: expect.stringContaining("3 copies"),
      },
    ]);
  });
});

describe("the watch of the lag", () => {
  const SECOND = 1000;
  const watch = () => {
    const lag = new LagWatch();
    const see = (atSecond: number, start: number, end: number, finishedRuns: { from: number; to: number }[] = []) =>
      lag.see(
        { topic: "t", topicId: null, partition: 0, start, end, finishedRuns, deleted: null },
        { groupId: "g", delayMs: 0, nowMs: atSecond * SECOND },
      );
    return { see, stalled: (atSecond: number) => lag.stalled(atSecond * SECOND) };
  };

  it("tells of a partition in which records wait and none is finished for a minute", () => {
    const { see, stalled } = watch();
    see(0, 5, 7);
    see(30, 5, 9);
    expect(stalled(59)).toEqual([]);
    expect(stalled(61)).toEqual([{ topic: "t", partition: 0, groupId: "g", behind: 4, stalledMs: 61 * SECOND }]);
  });

  it("begins anew where the group goes on, above the committed offset too, and where nothing waited", () => {
    const { see, stalled } = watch();
    see(0, 5, 7);
    see(50, 5, 9, [{ from: 6, to: 7 }]);
    expect(stalled(70)).toEqual([]);
    see(100, 9, 9);
    see(170, 9, 10);
    expect(stalled(171)).toEqual([]);
    expect(stalled(231)).toHaveLength(1);
  });

  it("gives the records of a retry topic their delay", () => {
    const lag = new LagWatch();
    const range = { topic: "t", topicId: null, partition: 0, start: 0, end: 1, finishedRuns: [], deleted: null };
    lag.see(range, { groupId: "g", delayMs: 3600 * SECOND, nowMs: 0 });
    expect(lag.stalled(3600 * SECOND)).toEqual([]);
    expect(lag.stalled(3661 * SECOND)).toHaveLength(1);
  });
});

describe("the clocks of processes", () => {
  it("are those of records that came since control listens, PC1, of processes that still write", () => {
    let nowMs = 1_000_000;
    const clocks = new ProcessClocks(() => nowMs);
    clocks.see({ instance: "before", writtenAtMs: 5 });
    clocks.listen();
    clocks.see({ instance: "late", writtenAtMs: nowMs - 90_000 });
    clocks.see({ instance: "gone", writtenAtMs: nowMs });
    nowMs += 59_000;
    clocks.see({ instance: "late", writtenAtMs: nowMs - 90_000 });
    nowMs += 2000;
    expect(clocks.clocks()).toEqual([{ instance: "late", aheadMs: -90_000 }]);
  });
});

describe("a check", () => {
  it("is as bad as its worst finding", async () => {
    const finding = { what: "This.", remedy: "That." };
    const states = ["warning", "wrong", "unknown"] as const;
    const look = () => states.map((state) => ({ state, ...finding }));
    expect(await runCheck({ name: "all", look })).toMatchObject({ name: "all", state: "wrong" });
    expect(await runCheck({ name: "none", look: () => [] })).toEqual({ name: "none", state: "ok", findings: [] });
  });

  it("that fails is unknown, and says no more of an error than is meant to be told", async () => {
    const look = () => Promise.reject(new Error("secret"));
    const result = await runCheck({ name: "failed", look });
    expect(result).toMatchObject({ state: "unknown", findings: [{ what: "This could not be looked at." }] });
  });
});
