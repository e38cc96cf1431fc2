import type { Destination } from "@posthaste/core/config/destination";
import { OPERATIONS_SOURCE } from "@posthaste/core/config/source";
import type { Event } from "@posthaste/core/event/event";
import { SILENT_LOG } from "@posthaste/core/log";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import { testDestination } from "@posthaste/testbed/test-destination";
import { beforeEach, describe, expect, it } from "vitest";
import type { OldRecords } from "./old-records.ts";
import { reportedKey } from "./reported-facts.ts";
import { type KnownDestination, MOST_NEWS, Teller } from "./teller.ts";

const NOW = 1_000_000_000;
const MINUTE = 60_000;
const nothing = { reason: null, nextProbeMs: null, deliversAgainSinceMs: null };

let facts: Map<string, string>;
let sent: (readonly OutgoingRecord[])[];
let events: Event[];
let known: KnownDestination[];
let asked: string[];
let refusal: Error | null;
let nowMs: number;
let dead: number | null;
let old: OldRecords[];

const failing = (id: string, change: Partial<Destination> = {}): KnownDestination => ({
  destination: testDestination(id, change),
  judged: { ...nothing, state: "failing", sinceMs: NOW - 5 * MINUTE },
});
const told = (id: string, change: Partial<Destination> = {}): KnownDestination =>
  failing(id, { sourceIds: [OPERATIONS_SOURCE.id], ...change });

/** A process, over the facts of the topic. */
function openTeller(): Teller {
  return new Teller({
    names: { events: "events", meta: "meta" },
    facts: { get: (key) => facts.get(key), entries: () => facts.entries(), refresh: async () => undefined },
    producer: {
      send: async (records) => {
        if (refusal !== null) throw refusal;
        sent.push(records);
        for (const { topic, key, value } of records) {
          if (topic !== "meta") continue;
          if (value === null) facts.delete(String(key));
          else facts.set(String(key), String(value));
        }
      },
    },
    codec: { encode: (event) => Buffer.from([events.push(event)]) },
    known: () => known,
    failedLately: (id) => id === "dst_1",
    openDeadLetters: async (id) => {
      asked.push(id);
      return dead;
    },
    oldRecords: async () => old,
    nowMs: () => nowMs,
    log: SILENT_LOG,
  });
}
const round = (signal = new AbortController().signal) => openTeller().tell(signal);

beforeEach(() => {
  [facts, sent, events, asked, refusal, nowMs, dead] = [new Map(), [], [], [], null, NOW, 2];
  old = [];
  known = [failing("dst_1"), told("dst_operations")];
});

describe("a round", () => {
  it("OP1: sends the events and the fact that they were told in one call", async () => {
    await round();
    expect(sent.map((records) => records.map(({ topic, key }) => [topic, String(key)]))).toEqual([
      [
        ["events", "src_operations:dst_1"],
        ["events", "src_operations:dst_1"],
        ["meta", "operations-reported dst_1"],
      ],
    ]);
    expect(events).toMatchObject([
      {
        ...{ messageId: "operations-dst_1-0", sourceId: "src_operations", type: "track", userId: "dst_1" },
        ...{ event: "destination.failing", timestampMs: NOW, receivedAtMs: NOW },
      },
      { messageId: "operations-dst_1-1", event: "destination.dead_letters" },
    ]);
    expect(JSON.parse(events[1]?.propertiesJson ?? "")).toEqual({
      ...{ destinationId: "dst_1", name: "dst_1", openDeadLetters: 2, more: 2 },
    });
  });

  it("tells nothing a second time, in this process or in one that takes over", async () => {
    await round();
    await round();
    expect([sent.length, events.length]).toEqual([1, 2]);
  });

  it("OP1: gives an event the same id again where the fact was lost", async () => {
    refusal = new Error("no brokers");
    await expect(round()).rejects.toThrow("no brokers");
    refusal = null;
    await round();
    expect(events.map(({ messageId }) => messageId)).toEqual([
      ...["operations-dst_1-0", "operations-dst_1-1", "operations-dst_1-0", "operations-dst_1-1"],
    ]);
    nowMs += 60 * MINUTE;
    known = [{ ...failing("dst_1"), judged: { ...nothing, state: "healthy", sinceMs: null } }, told("dst_operations")];
    await round();
    expect(events.at(-1)).toMatchObject({ messageId: "operations-dst_1-2", event: "destination.recovered" });
  });

  it("OP2: tells nothing of a destination that is told, or of itself", async () => {
    known = [told("dst_a"), told("dst_b")];
    await round();
    expect(sent).toEqual([]);
  });

  it("OP3: tells so much at the most, and the rest in the next", async () => {
    known = [...Array.from({ length: MOST_NEWS + 5 }, (_, n) => failing(`dst_x${n}`)), told("dst_operations")];
    dead = null;
    await round();
    expect(events).toHaveLength(MOST_NEWS);
    await round();
    expect(new Set(events.map(({ userId }) => userId)).size).toBe(MOST_NEWS + 5);
  });

  it("OP4: looks at nothing while nobody is told", async () => {
    known = [failing("dst_1"), told("dst_operations", { enabled: false })];
    await round();
    expect([sent, asked]).toEqual([[], []]);
  });

  it("asks for the dead letters of those that failed lately, and of no others", async () => {
    known = [
      failing("dst_1"),
      { ...failing("dst_2"), judged: { ...nothing, state: "healthy", sinceMs: null } },
      told("o"),
    ];
    await round();
    expect(asked).toEqual(["dst_1"]);
  });

  it("forgets a destination that was removed, leaves other facts, and reads a fact that is none as nothing told", async () => {
    facts
      .set(reportedKey("dst_gone"), "{}")
      .set("accepted-loss t 0 1", "{}")
      .set(reportedKey("dst_1"), '{"state":"odd"}');
    await round();
    expect([...facts.keys()]).toEqual(["accepted-loss t 0 1", reportedKey("dst_1")]);
    expect(events[0]?.messageId).toBe("operations-dst_1-0");
  });

  it("reports a topic with old records when that begins and once a day, and not its end", async () => {
    known = [told("dst_operations")];
    old = [{ topic: "deliveries", records: 3, retentionMs: 604_800_000 }];
    const hours = [0, 1, 23, 24, 25];
    for (const hour of hours) {
      nowMs = NOW + hour * 60 * MINUTE;
      await round();
    }
    expect(events.map(({ messageId, event }) => [messageId, event])).toEqual([
      ["operations-deliveries-0", "events.near_retention"],
      ["operations-deliveries-1", "events.near_retention"],
    ]);
    expect(JSON.parse(events[0]?.propertiesJson ?? "")).toEqual(old[0]);
    const [again] = old;
    old = [];
    await round();
    if (again !== undefined) old = [again];
    await round();
    expect(events.map(({ messageId }) => messageId).at(-1)).toBe("operations-deliveries-2");
    expect(sent.map((records) => records.length)).toEqual([2, 2, 1, 2]);
  });

  it("sends nothing once another process leads", async () => {
    await round(AbortSignal.abort());
    expect(sent).toEqual([]);
  });
});
