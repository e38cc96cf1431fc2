import { createTopicNames, type TopicSpec, topicCatalogue } from "@posthaste/contracts/topics";
import { describe, expect, it } from "vitest";
import { compareTopics, type ExistingTopic, replicationOf, settingsOf } from "./topic-plan.ts";

const REPLICATION = { replicationFactor: 3, minInsyncReplicas: 2 };
const catalogue = topicCatalogue({ names: createTopicNames("p"), partitions: 6, retryDelaysMs: [10_000] });

/** A topic exactly as the catalogue wants it. */
function asWanted(spec: TopicSpec): ExistingTopic {
  return {
    name: spec.name,
    partitions: spec.partitions,
    replicationFactor: 3,
    settings: settingsOf(spec, REPLICATION),
  };
}

function withChange(name: string, change: Partial<ExistingTopic>): readonly ExistingTopic[] {
  return catalogue.map((spec) => (spec.name === name ? { ...asWanted(spec), ...change } : asWanted(spec)));
}

describe("the plan of topics", () => {
  it("makes every topic of the catalogue in an empty cluster", () => {
    const plan = compareTopics(catalogue, [], REPLICATION);
    expect(plan.map(({ kind, topic }) => [kind, topic])).toEqual(catalogue.map(({ name }) => ["create", name]));
  });

  it("is empty for a cluster that matches", () => {
    expect(compareTopics(catalogue, catalogue.map(asWanted), REPLICATION)).toEqual([]);
  });

  it("leaves topics that are not in the catalogue alone", () => {
    const foreign: ExistingTopic = { name: "theirs", partitions: 1, replicationFactor: 1, settings: new Map() };
    expect(compareTopics(catalogue, [...catalogue.map(asWanted), foreign], REPLICATION)).toEqual([]);
  });

  it("grows a topic with too few partitions and only reports one with too many", () => {
    expect(compareTopics(catalogue, withChange("p.events", { partitions: 4 }), REPLICATION)).toEqual([
      { kind: "grow", topic: "p.events", from: 4, to: 6 },
    ]);
    const [report] = compareTopics(catalogue, withChange("p.events", { partitions: 12 }), REPLICATION);
    expect(report).toMatchObject({ kind: "report", topic: "p.events" });
  });

  it("only reports fewer copies, and closes the topic to no write by a minimum that they cannot reach", () => {
    for (const [replicationFactor, most] of [
      [1, "1"],
      [2, "1"],
    ] as const) {
      const settings = new Map(settingsOf(catalogue[0] as TopicSpec, REPLICATION)).set("min.insync.replicas", most);
      const { name } = catalogue[0] as TopicSpec;
      const plan = compareTopics(catalogue, withChange(name, { replicationFactor, settings }), REPLICATION);
      expect(plan).toMatchObject([{ kind: "report", topic: name }]);
    }
  });

  it("wants as many copies as the brokers allow, and two in step where there are three", () => {
    expect([0, 1, 2, 3, 9].map((brokers) => Object.values(replicationOf(brokers)))).toEqual([
      ...[
        [1, 1],
        [1, 1],
        [2, 1],
        [3, 2],
        [3, 2],
      ],
    ]);
  });

  it("names each setting that differs, with what it was", () => {
    const changed = new Map(
      settingsOf(catalogue.find(({ name }) => name === "p.deliveries.retry-10s") as TopicSpec, REPLICATION),
    );
    changed.set("message.timestamp.type", "CreateTime");
    changed.delete("retention.ms");
    expect(compareTopics(catalogue, withChange("p.deliveries.retry-10s", { settings: changed }), REPLICATION)).toEqual([
      {
        kind: "configure",
        topic: "p.deliveries.retry-10s",
        setting: "message.timestamp.type",
        from: "CreateTime",
        to: "LogAppendTime",
      },
      { kind: "configure", topic: "p.deliveries.retry-10s", setting: "retention.ms", from: null, to: "604800000" },
    ]);
  });

  it("keeps a retention that somebody gave a topic, but one that loses records and one beside a setting", () => {
    const DAY_MS = 24 * 60 * 60 * 1000;
    const planOf = (retention: string, specs = catalogue) => {
      const { settings } = asWanted(specs.find(({ name }) => name === "p.events") as TopicSpec);
      const changed = withChange("p.events", { settings: new Map(settings).set("retention.ms", retention) });
      return compareTopics(specs, changed, REPLICATION);
    };
    const kept = { kind: "keep", topic: "p.events", wanted: 7 * DAY_MS };
    const changed = { kind: "configure", topic: "p.events", setting: "retention.ms" };
    expect(planOf(String(30 * DAY_MS))).toEqual([{ ...kept, retentionMs: 30 * DAY_MS }]);
    expect(planOf("-1")).toEqual([{ ...kept, retentionMs: -1 }]);
    const short = String(7 * DAY_MS - 1);
    expect(planOf(short)).toEqual([{ ...changed, from: short, to: String(7 * DAY_MS) }]);
    const told = topicCatalogue({
      ...{ names: createTopicNames("p"), partitions: 6, retryDelaysMs: [10_000] },
      keepMs: { events: 8 * DAY_MS },
    });
    const [thirty, eight] = [30, 8].map((days) => String(days * DAY_MS));
    expect(planOf(String(thirty), told)).toEqual([{ ...changed, from: thirty, to: eight }]);
  });

  it("W7: keeps what waits by time alone, whatever its size", () => {
    for (const spec of catalogue) {
      if (spec.cleanup === "delete") expect(settingsOf(spec, REPLICATION).get("retention.bytes")).toBe("-1");
    }
  });

  it("gives retry topics the broker's time of writing (W1)", () => {
    const retry = catalogue.find(({ name }) => name === "p.deliveries.retry-10s") as TopicSpec;
    expect(settingsOf(retry, REPLICATION).get("message.timestamp.type")).toBe("LogAppendTime");
  });
});
