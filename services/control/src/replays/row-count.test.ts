/** Rules: PL3 of planner.ts, for a count by rows, and NR2 of letter-rows.ts. */
import { DIGEST_LENGTH } from "@posthaste/core/deletion/digest-set";
import type { LetterFilter } from "@posthaste/core/replay/letter-filter";
import { claimProgress, NONE_LEFT_OUT } from "@posthaste/core/replay/replay";
import type { PlannedRange } from "@posthaste/core/replay/replay-plan";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { JournalEntry } from "../read-model/journal-entry.ts";
import { textHash } from "../read-model/letter-row.ts";
import { ofEach, Store } from "../read-model/store.ts";
import { type KnownDestination, LetterJudge } from "./letter-judge.ts";
import { type LettersReadModel, listedLetters } from "./listed-letters.ts";
import { PlaceSet } from "./place-set.ts";
import { PlanCount, type PlanCountParts } from "./plan-count.ts";
import { PastPlans } from "./plan-letters.ts";
import type { HeldPlan } from "./replay-store.ts";
import { countRows, isCountedByRows } from "./row-count.ts";

const NOW_MS = 1000;
const PARTITIONS = [0, 1];
const KNOWN: Readonly<Record<string, KnownDestination>> = {
  on: { enabled: true, settle: "any" },
  off: { enabled: false, settle: "any" },
  each: { enabled: true, settle: "each" },
};
const digestOf = (user: string): string => user.padEnd(DIGEST_LENGTH, "\u00ff");

/** The last one is left out whatever else is so. */
const REASONS = ["window_expired", "window_expired", "rejected_by_receiver", "suppressed"] as const;
const oneOf = {
  destinationId: fc.constantFrom("on", "on", "each", "off", "removed"),
  reason: fc.constantFrom(...REASONS),
  sourceId: fc.constantFrom("src_1", "src_2"),
  type: fc.constantFrom("track" as const, "page" as const),
  event: fc.constantFrom("Order", "Visit"),
  user: fc.constantFrom("ann", "ben"),
  messageId: fc.constantFrom("m-1", "m-2", "m-3"),
  timeMs: fc.integer({ min: 1, max: 6 }),
};
const letter = fc.record({
  ...oneOf,
  what: fc.constant("letter" as const),
  partition: fc.constantFrom(...PARTITIONS),
  errors: fc.constantFrom([], ["503"], ["timeout", "503"]),
  /** Whom an alias names beside. */
  aliased: fc.constantFrom([], [], ["cleo"], ["ben"]),
});
const attempt = fc.record({
  ...oneOf,
  what: fc.constant("attempt" as const),
  status: fc.constantFrom(200, 503),
});
type Read = { readonly what: "letter" } & typeof letter extends fc.Arbitrary<infer Each> ? Each : never;
type Attempt = typeof attempt extends fc.Arbitrary<infer Each> ? Each : never;

/** By one or two of these: by more, next to nothing would fit. */
function filterBy(values: { readonly [Name in keyof LetterFilter]: fc.Arbitrary<LetterFilter[Name]> }) {
  const names = fc.subarray(Object.keys(values), { maxLength: 2 });
  return fc.tuple(names, fc.record(values)).map(([chosen, all]): LetterFilter => {
    return Object.fromEntries(Object.entries(all).filter(([name]) => chosen.includes(name)));
  });
}
const filter = filterBy({
  ...{ destinationId: oneOf.destinationId, reason: oneOf.reason, sourceId: oneOf.sourceId, type: oneOf.type },
  error: fc.constantFrom("503", "timeout"),
  sinceMs: oneOf.timeMs,
  untilMs: oneOf.timeMs,
  places: fc.constant(["0:1", "0:3", "1:0", "1:2"]),
  userId: fc.constantFrom("ann", "ben", "cleo", "nobody"),
  event: fc.constantFrom("Order", "Visit", "None"),
});
/** Of plans that were made before, rows do not tell it. */
const ofWhole = filterBy({
  ...{ userId: oneOf.user, event: oneOf.event, messageIds: fc.constant(["m-1", "m-3"]) },
});
const purpose = fc.constantFrom("replay" as const, "replay" as const, "purge" as const);
interface PastPlan {
  readonly purpose: "replay" | "purge";
  readonly filter: LetterFilter;
  readonly start: number;
  readonly end: number;
  readonly leftOut: number;
  readonly next: number;
}

function planOf({ purpose, filter, start, end, leftOut, next }: PastPlan): HeldPlan {
  const places = new PlaceSet();
  places.add(0, [leftOut]);
  const range = { partition: 0, start, end };
  return {
    ...{ id: "rpl_past", createdAtMs: 0 },
    plan: {
      ...{ purpose, want: "running", filter, again: false, ratePerSecond: null },
      ...{ topicId: "T", ranges: [range, { ...range, partition: 1 }], matched: 1, leftOut: NONE_LEFT_OUT },
      ...{ leftOutPlaces: places.encode(), samples: [], createdAtMs: 0, expiresAtMs: 1, startedAtMs: 1 },
    },
    progress: {
      ...{ ...claimProgress(undefined, 0), sent: 1, leftOutPlaces: new Uint8Array(), updatedAtMs: 0 },
      next: PARTITIONS.map((partition) => ({ partition, offset: next })),
    },
  };
}
const pastPlan = fc
  .record({
    ...{ purpose, filter, more: fc.option(ofWhole, { nil: {} }) },
    ...{ start: fc.integer({ min: 0, max: 4 }), end: fc.integer({ min: 3, max: 12 }) },
    ...{ leftOut: fc.integer({ min: 0, max: 8 }), next: fc.integer({ min: 0, max: 12 }) },
  })
  .map(({ more, ...plan }) => planOf({ ...plan, filter: { ...plan.filter, ...more } }));

function letterEntry(each: Read, offset: number): JournalEntry {
  const { partition, timeMs, destinationId, reason, messageId, sourceId, type, event, user, errors, aliased } = each;
  const lastAttempt = [{ url: "https://a.example" }];
  const detail = JSON.stringify({
    sourceId,
    type,
    event,
    reasonClass: "receiver",
    userIds: [user, ...aliased],
    errors,
    lastAttempt,
  });
  const named = { timeMs, partition, offset, place: 0, destinationId, kind: reason, messageId };
  return { ...named, detail, users: digestOf(user) };
}

function attemptEntry({ timeMs, destinationId, messageId, status }: Attempt, offset: number): JournalEntry {
  const detail = JSON.stringify({ urls: [{ url: "https://a.example", status }] });
  const kind = status === 200 ? "delivered" : "retryable";
  return { timeMs, partition: 0, offset, place: 0, destinationId, kind, messageId, detail, users: "" };
}

/** A store that read these one after the other, and holds so many letters. */
function storeOf(log: readonly (Read | Attempt)[], maxEntries: number): Store {
  const bounds = ofEach(() => ({ maxEntries, keepMs: NOW_MS }));
  const store = new Store({ path: null, identity: "test", bounds, memoryBounds: bounds }, () => NOW_MS);
  const next = [0, 0];
  for (const [index, each] of log.entries()) {
    if (each.what === "attempt") {
      const taken = { partition: 0, next: index + 1, passedTo: 0, entries: { attempts: [attemptEntry(each, index)] } };
      store.take("attempts", taken);
      continue;
    }
    const { partition } = each;
    const offset = next[partition] ?? 0;
    next[partition] = offset + 1;
    const entries = { dead_letters: [letterEntry(each, offset)] };
    store.take("dead_letters", { partition, next: offset + 1, passedTo: 0, entries });
  }
  return store;
}

type ModelOfStore = LettersReadModel & ConstructorParameters<typeof LetterJudge>[0]["readModel"];

function modelOf(store: Store): ModelOfStore {
  return {
    search: async (name, query) => store.search(name, query),
    at: async (name, places) => store.at(name, places),
    heldLetters: async () => ({ topicId: "T", ranges: store.heldLetters() }),
    letterHours: async (query) => store.letterHours(query),
    alikeLetters: async () => store.alikeLetters(),
    letterEvent: async (event) => store.letterEvent(event),
    letterRows: async (query) => store.letterRows(query),
    outcomes: async (name, messageIds) => store.outcomes(name, messageIds),
    newest: async (name, query) => store.newest(name, query),
  };
}

function partsOf(readModel: ModelOfStore, plans: readonly HeldPlan[], user: string | null): PlanCountParts {
  const past = new PastPlans({ plans: () => plans }, { id: "T" });
  const hasDigest = (digest: string) => digest === digestOf(user ?? "nobody");
  const suppressed = { size: user === null ? 0 : 1, has: () => false, hasDigest };
  return { past, judge: new LetterJudge({ past, suppressed, destinationOf: (id) => KNOWN[id], readModel }) };
}

const ran = ({ matched, looked, leftOut, counts, samples }: PlanCount, places: Uint8Array) => ({
  ...{ matched, looked, leftOut, places, samples },
  counts: counts.map((each) => JSON.stringify(each)).sort(),
});

it("PL3: a count by rows is the count letter by letter, whatever was asked for and whatever is left out", async () => {
  const log = fc.array(fc.oneof({ weight: 2, arbitrary: letter }, attempt), {
    minLength: 5,
    maxLength: 30,
    size: "max",
  });
  const asked = fc.record({
    filter,
    purpose,
    again: fc.constantFrom(false, false, true),
  });
  const known = fc.record({ past: fc.array(pastPlan, { maxLength: 3 }), suppressed: fc.option(oneOf.user) });
  await fc.assert(
    fc.asyncProperty(log, asked, known, fc.integer({ min: 3, max: 40 }), async (read, input, tables, maxEntries) => {
      const store = storeOf(read as readonly (Read | Attempt)[], maxEntries);
      const readModel = modelOf(store);
      const parts = partsOf(readModel, tables.past, tables.suppressed);
      const ranges: readonly PlannedRange[] = store
        .heldLetters()
        // Up to before what came last: the ends were fixed before.
        .map(({ partition, from, next }) => ({ partition, start: from, end: Math.max(from, next - 1) }));
      const begin = () => new PlanCount({ ...input, createdAtMs: 5 }, parts);
      const [byRows, one] = [begin(), begin()];
      await countRows(readModel, byRows, ranges, new AbortController().signal);
      for await (const letters of listedLetters(readModel, input.filter, ranges)) await one.take(letters);
      const looked = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
      expect(ran(byRows, byRows.places().encode())).toEqual({ ...ran(one, one.places().encode()), looked });
      store.close();
    }),
    { numRuns: 500 },
  );
});

const MATCHING: Read = {
  ...{ what: "letter", partition: 0, destinationId: "on", reason: "window_expired", sourceId: "src_1", type: "track" },
  ...{ event: "Order", user: "ann", messageId: "m-1", timeMs: 3, errors: ["503"], aliased: [] },
};
interface Asked {
  readonly filter?: LetterFilter;
  readonly again?: boolean;
}

async function countOf(store: Store, plans: readonly HeldPlan[], asked: Asked = {}): Promise<PlanCount> {
  const readModel = modelOf(store);
  const parts = partsOf(readModel, plans, null);
  const plan = { purpose: "replay" as const, filter: {}, again: false, createdAtMs: 5, ...asked };
  const count = new PlanCount(plan, parts);
  await countRows(readModel, count, [{ partition: 0, start: 0, end: 10 }], new AbortController().signal);
  store.close();
  return count;
}

it.each([
  ["purge", { purged: 1 }],
  ["replay", { replayedBefore: 1 }],
] as const)("whom an earlier %s was for is asked of the whole letter", async (purpose, leftOut) => {
  const store = storeOf([MATCHING, { ...MATCHING, user: "ben" }], 10);
  const earlier = planOf({ purpose, filter: { userId: "ann" }, start: 0, end: 5, leftOut: 9, next: 5 });
  const count = await countOf(store, [earlier]);
  expect([count.matched, count.leftOut]).toEqual([1, { ...NONE_LEFT_OUT, ...leftOut }]);
  expect(count.samples).toMatchObject([{ place: "0:1" }]);
});

it.each([
  ["before it died", 2, 1, 0],
  ["when it died", 3, 0, 1],
  ["since", 4, 0, 1],
] as const)("NR2: what was delivered %s, whichever is read first", async (_, timeMs, matched, deliveredSince) => {
  const delivered: Attempt = { ...MATCHING, what: "attempt", timeMs, status: 200 };
  for (const log of [
    [MATCHING, delivered],
    [delivered, MATCHING],
  ]) {
    const count = await countOf(storeOf(log, 10), []);
    expect([count.matched, count.leftOut]).toEqual([matched, { ...NONE_LEFT_OUT, deliveredSince }]);
    expect((await countOf(storeOf(log, 10), [], { again: true })).matched).toBe(1);
  }
});

it("users whose ids share a hash are told apart", async () => {
  const [user, other] = ["user-257598", "user-399787"] as const;
  expect(textHash(user)).toBe(textHash(other));
  const log = [user, other, other].map((each): Read => ({ ...MATCHING, user: each as Read["user"] }));
  const places = async (userId: string) => {
    const { matched, samples } = await countOf(storeOf(log, 10), [], { filter: { userId } });
    return [matched, samples.map(({ place }) => place).sort()];
  };
  expect(await places(user)).toEqual([1, ["0:0"]]);
  expect(await places(other)).toEqual([2, ["0:1", "0:2"]]);
});

it("samples are the newest of more letters than are kept, told by their rows in whatever order", async () => {
  for (const times of [
    [1, 2, 3, 4, 5, 6],
    [6, 5, 4, 3, 2, 1],
    [2, 5, 1, 6, 3, 4],
  ]) {
    const log = times.map((timeMs): Read => ({ ...MATCHING, timeMs }));
    const { samples } = await countOf(storeOf(log, 10), []);
    expect(samples.map(({ deadAtMs }) => deadAtMs)).toEqual([6, 5, 4]);
  }
});

it("samples are the newest letters, of which rows tell enough and of which they do not", async () => {
  const tried: Attempt = { ...MATCHING, what: "attempt", messageId: "m-2", status: 503, timeMs: 6 };
  const letters = [1, 2, 3, 4, 5].map((timeMs): Read => {
    return { ...MATCHING, timeMs, messageId: timeMs % 2 === 0 ? "m-2" : "m-1" };
  });
  for (const log of [letters, letters.toReversed()]) {
    const { samples } = await countOf(storeOf([...log, tried], 10), []);
    expect(samples.map(({ deadAtMs }) => deadAtMs)).toEqual([5, 4, 3]);
  }
});

it("of one moment samples are those of the highest places, of which rows tell enough and of which they do not", async () => {
  const tried: Attempt = { ...MATCHING, what: "attempt", messageId: "m-2", status: 503, timeMs: 6 };
  const whole = [1, 3, 5];
  const log = [0, 1, 2, 3, 4, 5].map((offset): Read => {
    return { ...MATCHING, timeMs: 5, messageId: whole.includes(offset) ? "m-2" : "m-1" };
  });
  for (const read of [log, [...log, tried]]) {
    const { samples } = await countOf(storeOf(read, 10), []);
    expect(samples.map(({ place }) => place)).toEqual(["0:5", "0:4", "0:3"]);
  }
});

it("rows are counted where they tell enough, and where not far fewer letters have to be looked at", () => {
  expect(isCountedByRows({}, 1000, 1000)).toBe(true);
  expect(isCountedByRows({ destinationId: "on", type: "track", sinceMs: 1 }, 50, 1000)).toBe(true);
  expect(isCountedByRows({ destinationId: "on" }, 49, 1000)).toBe(false);
  for (const only of [{ userId: "ann" }, { event: "Order" }]) expect(isCountedByRows(only, 1000, 1000)).toBe(true);
  expect(isCountedByRows({ messageIds: ["m-1"] }, 1000, 1000)).toBe(false);
});
