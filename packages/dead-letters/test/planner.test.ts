/** Rules: PL1, PL2 and PL4 of planner.ts, over the real broker. */
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { PosthasteError } from "@posthaste/core/errors";
import { SILENT_LOG } from "@posthaste/core/log";
import { createLogWriter, deadLetterAt } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { JudgedDeadLetter, Judging } from "../src/dead-letter-judge.ts";
import { type DeadLetterReaderOptions, readDeadLetters } from "../src/dead-letter-reader.ts";
import type { DeadLettersReadModel } from "../src/listed-dead-letters.ts";
import { PlaceSet } from "../src/place-set.ts";
import { PastPlans } from "../src/plan-dead-letters.ts";
import { type PlanInput, Planner } from "../src/planner.ts";

const ALL: PlanInput = { purpose: "replay", filter: {}, again: false, ratePerSecond: null };
const MANY = 20_000;

let topics: TestTopics;
let reading: DeadLetterReaderOptions;

beforeAll(async () => {
  topics = await createTestTopics("planner");
  const writer = await createLogWriter(topics);
  await writer.deadLetters([1, 2].map((n) => deadLetterAt(n)));
  await writer.strayDeadLetter();
  await writer.deadLetters([3, 4, 5].map((n) => deadLetterAt(n)));
  for (let from = 0; from < MANY; from += 2000) {
    await writer.deadLetters(
      Array.from({ length: 2000 }, (_, n) => deadLetterAt(6, { messageId: `${from + n}` })),
      1,
    );
  }
  const { connection, openCodec, names } = topics;
  reading = { connection, topic: names.deadLetters, codec: await openCodec<DeadLetter>("dead-letter") };
});

afterAll(() => topics.remove());

type Judge = (found: readonly JudgedDeadLetter[], judging: Judging) => Promise<readonly null[]>;

/** Of a topic without an id the read model is not asked. */
const nothingHeld: DeadLettersReadModel["heldDeadLetters"] = async () => ({ topicId: "", ranges: [] });

function plannerWith(judge: Judge, heldDeadLetters = nothingHeld): Planner {
  const past = new PastPlans({ plans: () => [] }, { id: null });
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
  const deadLetterTopic = { refresh: async () => null };
  const none = {
    ...{ search: notAsked, at: notAsked, deadLetterHours: notAsked },
    ...{ groupedDeadLetters: notAsked, deadLetterEvent: notAsked, deadLetterRows: notAsked, groupCounts: notAsked },
  };
  const readModel = { heldDeadLetters, ...none };
  const byRow = () => ({ needsUsers: false, ofGroup: () => ({ causeOf: () => null, leavesNone: true }) });
  return new Planner({ ...reading, judge: { judge, byRow }, past, deadLetterTopic, readModel, clock, log: SILENT_LOG });
}
const notAsked = () => Promise.reject(new TypeError("the read model is asked"));
const nobodySkipped = async (found: readonly JudgedDeadLetter[]) => found.map(() => null);

it("PL1: dead letters are read up to an end, whatever stands behind it", async () => {
  const offsets: number[] = [];
  const range = { partition: 0, start: 1, end: 5 };
  for await (const { deadLetters, unreadable, next } of readDeadLetters(reading, range, new AbortController().signal)) {
    offsets.push(...deadLetters.map(({ facts }) => facts.offset));
    expect([unreadable, next]).toEqual([[2], 5]);
  }
  expect(offsets).toEqual([1, 3, 4]);
});

it("what nobody could read is left out for good, also once somebody can", async () => {
  const { plan } = await plannerWith(nobodySkipped).make(ALL, new AbortController().signal);
  expect(plan.matched).toBe(5 + MANY);
  const places = PlaceSet.decode(plan.leftOutPlaces);
  expect([0, 1, 2, 3].map((offset) => places.has(0, offset))).toEqual([false, false, true, false]);
});

it("PL2: where one partition cannot be counted, the others are not read on", async () => {
  let counted = 0;
  const planner = plannerWith(async (found) => {
    if (found[0]?.facts.partition === 0) throw new Error("the log is away");
    counted += found.length;
    // As slow as a log that is asked for each of them.
    await new Promise((resolve) => setTimeout(resolve, 50));
    return await nobodySkipped(found);
  });
  await expect(planner.make(ALL, new AbortController().signal)).rejects.toThrow("the log is away");
  const atFailure = counted;
  await new Promise((resolve) => setTimeout(resolve, 1000));
  // Dead letters read by then are counted to their end.
  expect(counted - atFailure).toBeLessThanOrEqual(400);
});

it("PL4: each count says how far it is while it is asked for, the others behind it wait", async () => {
  const [first, second] = [gate(), gate()];
  const planner = plannerWith(async (found, { again }) => {
    await (again ? second : first).passed;
    return await nobodySkipped(found);
  });
  const signal = new AbortController().signal;
  const [one, other] = [planner.make(ALL, signal), planner.make({ ...ALL, again: true }, signal)];
  const of = 5 + 1 + MANY;
  await expect
    .poll(() => planner.counting())
    .toMatchObject([
      { again: false, looked: expect.toSatisfy((looked: number) => looked > 0 && looked < of), of },
      { again: true, looked: 0, of: null },
    ]);
  first.open();
  await one;
  await expect.poll(() => planner.counting()).toMatchObject([{ again: true, looked: expect.toSatisfy(isSome), of }]);
  second.open();
  await other;
  expect(planner.counting()).toEqual([]);
});

it("PL4: a count says how far it is where the read model cannot be asked too", async () => {
  const passed = gate();
  const planner = plannerWith(
    async (found) => {
      await passed.passed;
      return await nobodySkipped(found);
    },
    () => Promise.reject(new PosthasteError("delivery_log_unavailable", "the delivery log is being opened")),
  );
  const made = planner.make(ALL, new AbortController().signal);
  const of = 5 + 1 + MANY;
  await expect.poll(() => planner.counting()).toMatchObject([{ looked: expect.toSatisfy(isSome), of }]);
  passed.open();
  expect((await made).plan.matched).toBe(5 + MANY);
});

it("PL4: a count that failed is none any more", async () => {
  const planner = plannerWith(() => Promise.reject(new Error("the log is away")));
  await expect(planner.make(ALL, new AbortController().signal)).rejects.toThrow("the log is away");
  expect(planner.counting()).toEqual([]);
});

const isSome = (looked: number) => looked > 0;

function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
