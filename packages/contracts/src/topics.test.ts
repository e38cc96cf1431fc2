import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createTopicNames,
  delayMsFromRetryTopic,
  type KeptTopic,
  RETENTIONS,
  retryTopicName,
  SCHEMA_NAMES,
  subjectOf,
  type TopicSpec,
  topicCatalogue,
} from "./topics.ts";

const names = createTopicNames();

describe("retryTopicName", () => {
  it("writes a delay in its largest whole unit", () => {
    const topics = [250, 10_000, 60_000, 90_000, 3_600_000].map((delayMs) => retryTopicName(names, delayMs));
    expect(topics.map((topic) => topic.slice(names.retryPrefix.length))).toEqual(["250ms", "10s", "1m", "90s", "1h"]);
  });

  it("W4: states a delay that can be read back from the name, whatever the prefix", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), fc.stringMatching(/^[a-z0-9.-]{1,20}$/), (delayMs, prefix) => {
        const own = createTopicNames(prefix);
        expect(delayMsFromRetryTopic(own, retryTopicName(own, delayMs))).toBe(delayMs);
      }),
    );
  });

  it("takes no other topic for a retry topic", () => {
    const others = [
      names.deliveries,
      `${names.retryPrefix}soon`,
      `${names.retryPrefix}10`,
      "other.deliveries.retry-10s",
    ];
    expect(others.map((topic) => delayMsFromRetryTopic(names, topic))).toEqual([null, null, null, null]);
  });
});

describe("topicCatalogue", () => {
  const catalogue = topicCatalogue({ names, partitions: 6, retryDelaysMs: [10_000, 60_000, 60_000] });

  it("has each topic once, also where the schedule repeats a delay", () => {
    const all = catalogue.map((topic) => topic.name);
    expect(new Set(all).size).toBe(all.length);
    expect(all.filter((name) => name.startsWith(names.retryPrefix))).toEqual([
      "posthaste.deliveries.retry-10s",
      "posthaste.deliveries.retry-1m",
    ]);
  });

  it("W1: has the broker's time of writing on retry topics, and only there", () => {
    for (const topic of catalogue) {
      const isRetry = topic.name.startsWith(names.retryPrefix);
      expect(topic.timestamps, topic.name).toBe(isRetry ? "LogAppendTime" : "CreateTime");
    }
  });

  it("W7: keeps deliveries and retry topics for seven days", () => {
    const kept = catalogue.filter((topic) => topic.name.startsWith(names.deliveries));
    expect(kept.map((topic) => topic.retentionMs)).toEqual(kept.map(() => 7 * 24 * 60 * 60 * 1000));
  });

  it("keeps tables compacted, in one partition and without a retention", () => {
    const compacted = catalogue.filter((topic) => topic.cleanup === "compact");
    const tables = [names.sourceConfig, names.destinationConfig, names.meta, names.audienceConfig];
    const others = [names.suppressions, names.deletions, names.replays, names.tokens, names.destinationHealth];
    expect(compacted.map((topic) => topic.name)).toEqual([...tables, names.audiences, ...others]);
    for (const topic of compacted) {
      expect(topic).toMatchObject({ partitions: topic.name === names.audiences ? 6 : 1, retentionMs: null });
    }
  });

  it("keeps each revision for seven days, and an audience's user for one, before a newer one takes its place", () => {
    const lags = catalogue.flatMap(({ name, minCompactionLagMs }) =>
      minCompactionLagMs ? [[name, minCompactionLagMs]] : [],
    );
    const dayMs = 24 * 60 * 60 * 1000;
    expect(lags).toEqual([
      [names.sourceConfig, 7 * dayMs],
      [names.destinationConfig, 7 * dayMs],
      [names.audiences, dayMs],
    ]);
  });

  it("keeps the audit in one partition, 425 days when it is not told otherwise", () => {
    const dayMs = 24 * 60 * 60 * 1000;
    const audit = catalogue.find(({ name }) => name === names.audit);
    expect(audit).toMatchObject({ partitions: 1, cleanup: "delete", retentionMs: 425 * dayMs });
  });

  it("gives a topic the retention of its setting, and one without a setting a least retention by hand", () => {
    const kinds = Object.keys(RETENTIONS) as readonly KeptTopic[];
    const keepMs = Object.fromEntries(kinds.map((kind) => [kind, RETENTIONS[kind].leastMs + 1]));
    const told = topicCatalogue({ names, partitions: 6, retryDelaysMs: [10_000], keepMs });
    const topicsOf = { ...names, retries: retryTopicName(names, 10_000) };
    for (const kind of kinds) {
      const of = (topics: readonly TopicSpec[]) => topics.find(({ name }) => name === topicsOf[kind]);
      const { usualMs, leastMs } = RETENTIONS[kind];
      expect(of(catalogue)).toMatchObject({ retentionMs: usualMs, leastRetentionMs: leastMs });
      expect(of(told)).toMatchObject({ retentionMs: leastMs + 1 });
      expect(of(told)).not.toHaveProperty("leastRetentionMs");
    }
  });

  it("gives every schema a subject of its own", () => {
    const subjects = SCHEMA_NAMES.map((schema) => subjectOf(names, schema));
    expect(new Set(subjects).size).toBe(SCHEMA_NAMES.length);
    expect(subjectOf(names, "event")).toBe("posthaste.events-value");
  });
});
