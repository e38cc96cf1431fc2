/** Rule: PL3 of planner.ts: a plan's count out of the read model is the one out of the topic, over the real broker. */
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { Log } from "@posthaste/core/log";
import type { DeadLetterFilter } from "@posthaste/core/replay/dead-letter-filter";
import { readTopicId } from "@posthaste/kafka/connection/topic-id";
import { openReadModel, type ReadModel } from "@posthaste/read-model/read-model";
import { createLogWriter, deadLetterAt, momentOf } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { JudgedDeadLetter } from "../src/dead-letter-judge.ts";
import { type DeadLettersReadModel, heldRanges, someListed } from "../src/listed-dead-letters.ts";
import { PastPlans } from "../src/plan-dead-letters.ts";
import { type MadePlan, Planner } from "../src/planner.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const DEAD_LETTERS = 120;

let topics: TestTopics;
let topicId: string | null;
/** Read models, keyed by the name of the dead letters that each can hold. */
const readModels = new Map<string, ReadModel>();
let nobody: DeadLettersReadModel;
const warned: Record<string, unknown>[] = [];

/** Half a minute of dead letters in two partitions, some of them of three weeks ago, and records that are none. */
beforeAll(async () => {
  topics = await createTestTopics("planner");
  const { connection, openCodec, names } = topics;
  const writer = await createLogWriter(topics);
  for (let n = 0; n < DEAD_LETTERS; n += 1) {
    const isOld = n % 50 === 7;
    const url = { url: "https://a.example/hook", status: n % 3 === 0 ? 503 : 401, error: null, durationMs: 1 };
    const deadLetter = deadLetterAt(n % 30, {
      ...{ messageId: `m-${n}`, destinationId: `dst_${n % 4}`, type: n % 2 === 0 ? "track" : "page" },
      ...{ reason: n % 5 === 0 ? "rejected_by_receiver" : "window_expired", lastAttempt: n % 7 === 0 ? [] : [url] },
      ...(isOld ? { deadAtMs: Date.now() - 21 * DAY_MS } : {}),
    });
    await writer.deadLetters([deadLetter], n % 2, `user-${n % 6}`);
    if (n === 40) await writer.strayDeadLetter();
  }
  topicId = await readTopicId(connection, names.deadLetters);
  const open = (maxEntries: number) =>
    openReadModel({
      ...{ connection, openCodec, names, path: null, maxEntries, keepMs: DAY_MS },
      ...{ unreadable: { put: async () => {} }, unknownSchemaMs: 0 },
    });
  readModels.set("all", open(1000)).set("the newest 50", open(50));
  for (const readModel of readModels.values()) {
    await eventually(() => expect(readModel.isComplete("dead_letters")).toBe(true));
  }
  const notAsked = () => Promise.reject(new TypeError());
  const none = {
    ...{ search: notAsked, at: notAsked, deadLetterHours: notAsked },
    ...{ groupedDeadLetters: notAsked, deadLetterEvent: notAsked, deadLetterRows: notAsked, groupCounts: notAsked },
  };
  nobody = { heldDeadLetters: async () => ({ topicId: "", ranges: [] }), ...none };
});

afterAll(async () => {
  await Promise.all([...readModels.values()].map((readModel) => readModel.close()));
  await topics.remove();
});

interface Counted extends Pick<MadePlan["plan"], "matched" | "leftOut" | "leftOutPlaces" | "ranges"> {
  readonly counts: MadePlan["counts"];
}

/** Returns the counts, and the numbers of dead letters looked at in the read model and in the topic. */
async function count(
  readModel: DeadLettersReadModel,
  filter: DeadLetterFilter,
): Promise<readonly [Counted, number, number]> {
  const { connection, names, openCodec } = topics;
  const causeOf = ({ offset }: { readonly offset: number }) => (offset % 4 === 1 ? ("deliveredSince" as const) : null);
  const judge = {
    judge: async (found: readonly JudgedDeadLetter[]) => found.map(({ facts }) => causeOf(facts)),
    byRow: () => ({ needsUsers: false, ofGroup: () => ({ causeOf, leavesNone: false }) }),
  };
  const said: Record<string, unknown>[] = [];
  const silent = () => {};
  const log: Log = {
    debug: silent,
    warn: (fields) => warned.push(fields),
    error: silent,
    info: (fields) => said.push(fields),
  };
  const planner = new Planner({
    ...{ connection, topic: names.deadLetters, codec: await openCodec<DeadLetter>("dead-letter"), log, readModel },
    ...{ judge, past: new PastPlans({ plans: () => [] }, { id: null }) },
    ...{ deadLetterTopic: { refresh: async () => topicId }, clock: { nowMs: () => Date.now(), monotonicMs: () => 0 } },
  });
  const input = { purpose: "replay", filter, again: false, ratePerSecond: null } as const;
  const { plan, counts } = await planner.make(input, new AbortController().signal);
  const { matched, leftOut, leftOutPlaces, ranges } = plan;
  const named = counts.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const [{ fromReadModel = -1, fromTopic = -1 } = {}] = said;
  return [{ matched, leftOut, leftOutPlaces, ranges, counts: named }, Number(fromReadModel), Number(fromTopic)];
}

const at = (n: number) => Date.parse(momentOf(n));
const filter: fc.Arbitrary<DeadLetterFilter> = fc.record(
  {
    destinationId: fc.constantFrom("dst_1", "dst_2", "dst_9"),
    reason: fc.constantFrom("window_expired" as const, "rejected_by_receiver" as const),
    type: fc.constantFrom("track" as const, "page" as const),
    error: fc.constantFrom("503", "401", "timeout"),
    userId: fc.constantFrom("user-1", "user-5"),
    event: fc.constantFrom("Order Completed", "Other"),
    sinceMs: fc.integer({ min: 0, max: 30 }).map(at),
    untilMs: fc.integer({ min: 0, max: 30 }).map(at),
    places: fc.constant(["0:1", "0:2", "1:5", "1:500"]),
    messageIds: fc.constant(["m-1", "m-4", "m-7", "nobody"]),
  },
  { requiredKeys: [] },
);

it.each(["all", "the newest 50"])("PL3: where it holds %s", async (holds) => {
  const readModel = readModels.get(holds) ?? nobody;
  await fc.assert(
    fc.asyncProperty(filter, async (asked) => {
      const [[byModel], [byTopic]] = await Promise.all([count(readModel, asked), count(nobody, asked)]);
      expect(byModel).toEqual(byTopic);
    }),
    { numRuns: 12 },
  );
  const [{ matched, leftOut }, fromReadModel, fromTopic] = await count(readModel, {});
  expect(warned).toEqual([]);
  expect(matched + leftOut.deliveredSince).toBe(DEAD_LETTERS);
  expect(fromReadModel + fromTopic).toBe(DEAD_LETTERS);
  expect([fromReadModel > 0, fromTopic > 0]).toEqual([true, true]);
});

it("PL3: what came after the last dead letter that it dropped is not read from the topic", async () => {
  const readModel = readModels.get("all") ?? nobody;
  const { ranges } = await readModel.heldDeadLetters();
  // Of partition 1 the last old one is its offset 53, and none of partition 0 is older than the stray record.
  expect(ranges.map(({ partition, from }) => [partition, from]).sort()).toEqual([
    [0, 22],
    [1, 54],
  ]);
});

it("PL3: of another topic, or of one that has no id, nothing is held", async () => {
  const readModel = readModels.get("all") ?? nobody;
  const all = [0, 1].map((partition) => ({ partition, start: 0, end: 1000 }));
  expect(await heldRanges(readModel, topicId, all)).toHaveLength(2);
  for (const other of ["another", "", null]) expect(await heldRanges(readModel, other, all)).toEqual([]);
});

it("PL3: what it never read, since it may hold no more, is not held", async () => {
  const other = await createTestTopics("planner");
  const { connection, openCodec, names } = other;
  await (await createLogWriter(other)).deadLetters(Array.from({ length: 60 }, (_, n) => deadLetterAt(n)));
  const bounds = { path: null, maxEntries: 50, keepMs: DAY_MS };
  const unread = { unreadable: { put: async () => {} }, unknownSchemaMs: 0 };
  const readModel = openReadModel({ connection, openCodec, names, ...bounds, ...unread });
  await eventually(() => expect(readModel.isComplete("dead_letters")).toBe(true));
  const { ranges } = await readModel.heldDeadLetters();
  expect(ranges).toEqual([{ partition: 0, from: 10, next: 60 }]);
  await readModel.close();
  await other.remove();
});

it("PL4: about how many there are to look at is known by the hours that are counted beforehand", async () => {
  const readModel = readModels.get("all") ?? nobody;
  const held = Array.from({ length: DEAD_LETTERS }, (_, n) => n).filter((n) => n % 50 !== 7);
  expect(await someListed(readModel, {})).toBe(held.length);
  const destinationId = "dst_1";
  expect(await someListed(readModel, { destinationId })).toBe(held.filter((n) => n % 4 === 1).length);
  expect(await someListed(readModel, { reason: "rejected_by_receiver" })).toBe(held.filter((n) => n % 5 === 0).length);
  expect(await someListed(readModel, { sinceMs: at(31) })).toBe(0);
  expect(await someListed(readModel, { untilMs: at(0) })).toBe(0);
});

it("PL3: a count of which it dropped some meanwhile is thrown away", async () => {
  const readModel = readModels.get("all") ?? nobody;
  const [expected] = await count(nobody, {});
  let raised = 0;
  const dropping: DeadLettersReadModel = {
    ...nobody,
    deadLetterRows: async (query) => {
      const { start } = query;
      return await readModel.deadLetterRows({ ...query, start: start + raised });
    },
    groupCounts: async () => null,
    groupedDeadLetters: () => readModel.groupedDeadLetters(),
    deadLetterEvent: (event) => readModel.deadLetterEvent(event),
    at: (projection, places) => readModel.at(projection, places),
    heldDeadLetters: async () => {
      const held = await readModel.heldDeadLetters();
      const ranges = held.ranges.map((range) => ({ ...range, from: range.from + raised }));
      raised += 1;
      return { ...held, ranges };
    },
    deadLetterHours: (query) => readModel.deadLetterHours(query),
  };
  const [found, fromReadModel] = await count(dropping, {});
  expect([found, fromReadModel, raised]).toEqual([expected, 0, 4]);
});
