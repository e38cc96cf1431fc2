/** LO1 and LO2 of replayed-dead-letters.ts, LM3 of dead-letter-mark.ts. */

import { SILENT_LOG } from "@posthaste/core/log";
import { claimProgress, NONE_SKIPPED } from "@posthaste/core/replay/replay";
import type { ReplayPlan } from "@posthaste/core/replay/replay-plan";
import { deadLetterState } from "@posthaste/read-model/dead-letter-mark";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import { ofEach, Store } from "@posthaste/read-model/store";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PlaceSet } from "./place-set.ts";
import { PastPlans } from "./plan-dead-letters.ts";
import type { HeldPlan } from "./replay-store.ts";
import { ReplayedDeadLetters } from "./replayed-dead-letters.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW_MS = 1000 * DAY_MS;
const MANY = 10_000;
const daysAgo = (days: number): number => NOW_MS - days * DAY_MS;

let store: Store;
beforeEach(() => {
  const bounds = ofEach(() => ({ maxEntries: MANY, keepMs: 14 * DAY_MS }));
  store = new Store({ path: null, identity: "test", bounds, memoryBounds: bounds }, () => NOW_MS);
});
afterEach(() => store.close());

function deadLetterAt(offset: number, days: number, replayedFrom?: number): ProjectionEntry {
  const facts = { sourceId: "src", type: "track", event: null, reasonClass: "receiver", userIds: [], errors: ["503"] };
  const again = replayedFrom === undefined ? {} : { replayedFrom: `t/0/${replayedFrom}` };
  const detail = JSON.stringify({ ...facts, lastAttempt: [{ url: "https://a.example" }], ...again });
  const place = { partition: 0, offset, place: 0, timeMs: daysAgo(days) + offset };
  const messageId = `m-${replayedFrom ?? offset}`;
  return { ...place, destinationId: "dst_1", kind: "window_expired", messageId, detail, users: "" };
}

function take(...entries: readonly ProjectionEntry[]): void {
  store.take("dead_letters", { partition: 0, next: entries.length, passedTo: 0, entries: { dead_letters: entries } });
}

/** A replay of the dead letters below `end`, but for some places, which ended so many days ago. */
function replayOf(end: number, days: number, leftOut: readonly number[] = []): HeldPlan {
  const places = new PlaceSet();
  places.add(0, leftOut);
  const plan: ReplayPlan = {
    ...{ purpose: "replay", want: "running", filter: {}, again: false, ratePerSecond: null, topicId: "T" },
    ...{ ranges: [{ partition: 0, start: 0, end }], matched: end, leftOut: NONE_SKIPPED, samples: [] },
    ...{ leftOutPlaces: places.encode(), createdAtMs: daysAgo(days), expiresAtMs: 0, startedAtMs: daysAgo(days) },
  };
  const begun = { ...claimProgress(undefined, daysAgo(days)), leftOutPlaces: new Uint8Array(), updatedAtMs: 0 };
  const next = [{ partition: 0, offset: end }];
  const progress = { ...begun, state: "done" as const, sent: end, next, endedAtMs: daysAgo(days) };
  return { id: `rpl_${days}`, createdAtMs: plan.createdAtMs, plan, progress };
}

const states = (): readonly string[] => {
  const deadLetters = store.newest("dead_letters", { limit: MANY }).toSorted((a, b) => a.offset - b.offset);
  return deadLetters.map(({ mark = 0 }) => deadLetterState(mark, "any"));
};

function replayedDeadLetters(plans: readonly HeldPlan[], isComplete = () => true): ReplayedDeadLetters {
  return new ReplayedDeadLetters({
    past: new PastPlans({ plans: () => plans }, { id: "T" }),
    readModel: {
      isComplete,
      newest: async (name, query) => store.newest(name, query),
      noteSent: async (places) => store.noteSent(places),
    },
    clock: { nowMs: () => NOW_MS },
    log: SILENT_LOG,
  });
}

it("LO1: what a replay of over seven days ago sent is not open, without an attempt that says so", async () => {
  // The first was sent and came again as the fourth, the second was sent, the third was skipped.
  take(deadLetterAt(0, 10), deadLetterAt(1, 10), deadLetterAt(2, 10), deadLetterAt(3, 9, 0));
  expect(states()).toEqual(["diedAgain", "open", "open", "open"]);
  expect(await replayedDeadLetters([replayOf(3, 9.5, [2])]).note()).toBe(1);
  expect(states()).toEqual(["diedAgain", "deliveredSince", "open", "open"]);
  expect(store.deadLetterTotals("dst_1").sums).toEqual({
    any: { open: 2, deliveredSince: 1 },
    each: { open: 2, deliveredSince: 1 },
  });
  expect(await replayedDeadLetters([replayOf(3, 9.5, [2])]).note()).toBe(0);
});

it("LO1: what was sent more lately may be on its way, so that attempts alone decide", async () => {
  take(deadLetterAt(0, 10), deadLetterAt(1, 10));
  expect(await replayedDeadLetters([replayOf(2, 6.9)]).note()).toBe(0);
  const { progress, ...running } = replayOf(2, 8);
  expect(progress).toBeDefined();
  const isRunning = progress === undefined ? [] : [{ ...running, progress: { ...progress, endedAtMs: null } }];
  expect(await replayedDeadLetters(isRunning).note()).toBe(0);
  expect(
    await replayedDeadLetters([{ ...replayOf(2, 8), plan: { ...replayOf(2, 8).plan, purpose: "purge" } }]).note(),
  ).toBe(0);
  expect(states()).toEqual(["open", "open"]);
});

it("LO1: every dead letter is looked at, however many there are", async () => {
  take(...Array.from({ length: 4500 }, (_, offset) => deadLetterAt(offset, 10)));
  expect(await replayedDeadLetters([replayOf(4499, 8)]).note()).toBe(4499);
  expect(states().filter((state) => state === "open")).toHaveLength(1);
});

it("LO1: a dead letter that comes to be read after the pass says that the one before it died again", async () => {
  take(deadLetterAt(0, 10));
  await replayedDeadLetters([replayOf(1, 9)]).note();
  expect(states()).toEqual(["deliveredSince"]);
  take(deadLetterAt(1, 8.9, 0));
  expect(states()).toEqual(["diedAgain", "open"]);
});

it("LO2: the first pass is made once the dead letters are read, and ends with its owner", async () => {
  take(deadLetterAt(0, 10));
  const reading = replayedDeadLetters([replayOf(1, 9)], () => false);
  reading.start();
  await reading.close();
  expect(states()).toEqual(["open"]);
  const read = replayedDeadLetters([replayOf(1, 9)]);
  read.start();
  await eventually(() => expect(states()).toEqual(["deliveredSince"]));
  await read.close();
});
