/** Logs of dead letters and attempts, plans of before, and the read model of a store that read such a log. */
import { DIGEST_LENGTH } from "@posthaste/core/deletion/digest-set";
import type { DeadLetterFilter } from "@posthaste/core/replay/dead-letter-filter";
import { claimProgress, NONE_SKIPPED } from "@posthaste/core/replay/replay";
import type { PlannedRange } from "@posthaste/core/replay/replay-plan";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import { ofEach, Store } from "@posthaste/read-model/store";
import fc from "fast-check";
import { DeadLetterJudge, type KnownDestination } from "../src/dead-letter-judge.ts";
import type { DeadLettersReadModel } from "../src/listed-dead-letters.ts";
import { PlaceSet } from "../src/place-set.ts";
import type { PlanCount, PlanCountParts } from "../src/plan-count.ts";
import { PastPlans } from "../src/plan-dead-letters.ts";
import type { HeldPlan } from "../src/replay-store.ts";

const NOW_MS = 1000;
const PARTITIONS = [0, 1];
/** The destinations that are there. */
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
  messageId: fc.constantFrom<string>("m-1", "m-2", "m-3"),
  timeMs: fc.integer({ min: 1, max: 6 }),
};
const deadLetter = fc.record({
  ...oneOf,
  what: fc.constant("letter" as const),
  partition: fc.constantFrom(...PARTITIONS),
  errors: fc.constantFrom([], ["503"], ["timeout", "503"]),
  /** The further users that an alias names. */
  aliased: fc.constantFrom([], [], ["cleo"], ["ben"]),
});
const attempt = fc.record({
  ...oneOf,
  what: fc.constant("attempt" as const),
  status: fc.constantFrom(200, 503),
});
/** A dead letter that was read. */
export type Read = typeof deadLetter extends fc.Arbitrary<infer Each> ? Each : never;
export type Attempt = typeof attempt extends fc.Arbitrary<infer Each> ? Each : never;

/** By one or two of these: by more, next to nothing would fit. */
function filterBy(values: { readonly [Name in keyof DeadLetterFilter]: fc.Arbitrary<DeadLetterFilter[Name]> }) {
  const names = fc.subarray(Object.keys(values), { maxLength: 2 });
  return fc.tuple(names, fc.record(values)).map(([chosen, all]): DeadLetterFilter => {
    return Object.fromEntries(Object.entries(all).filter(([name]) => chosen.includes(name)));
  });
}
/** The common fields of a group of dead letters. */
const common = {
  ...{ destinationId: oneOf.destinationId, reason: oneOf.reason, sourceId: oneOf.sourceId, type: oneOf.type },
  error: fc.constantFrom("503", "timeout"),
};
export const commonFilter = filterBy(common);
export const filter = filterBy({
  ...common,
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
export const purpose = fc.constantFrom("replay" as const, "replay" as const, "purge" as const);
interface PastPlan {
  readonly purpose: "replay" | "purge";
  readonly filter: DeadLetterFilter;
  readonly start: number;
  readonly end: number;
  readonly leftOut: number;
  readonly next: number;
}

export function planOf({ purpose, filter, start, end, leftOut, next }: PastPlan): HeldPlan {
  const places = new PlaceSet();
  places.add(0, [leftOut]);
  const range = { partition: 0, start, end };
  return {
    ...{ id: "rpl_past", createdAtMs: 0 },
    plan: {
      ...{ purpose, want: "running", filter, again: false, ratePerSecond: null },
      ...{ topicId: "T", ranges: [range, { ...range, partition: 1 }], matched: 1, leftOut: NONE_SKIPPED },
      ...{ leftOutPlaces: places.encode(), samples: [], createdAtMs: 0, expiresAtMs: 1, startedAtMs: 1 },
    },
    progress: {
      ...{ ...claimProgress(undefined, 0), sent: 1, leftOutPlaces: new Uint8Array(), updatedAtMs: 0 },
      next: PARTITIONS.map((partition) => ({ partition, offset: next })),
    },
  };
}
export const pastPlan = fc
  .record({
    ...{ purpose, filter, more: fc.option(ofWhole, { nil: {} }) },
    ...{ start: fc.integer({ min: 0, max: 4 }), end: fc.integer({ min: 3, max: 12 }) },
    ...{ leftOut: fc.integer({ min: 0, max: 8 }), next: fc.integer({ min: 0, max: 12 }) },
  })
  .map(({ more, ...plan }) => planOf({ ...plan, filter: { ...plan.filter, ...more } }));

export const deadLetters = fc.array(deadLetter, { minLength: 5, maxLength: 30, size: "max" });
/** A log of both. */
export const log = fc.array(fc.oneof({ weight: 2, arbitrary: deadLetter }, attempt), {
  ...{ minLength: 5, maxLength: 30, size: "max" },
});
export const again = fc.constantFrom(false, false, true);
/** Plans of before, and the user who is suppressed. */
export const known = fc.record({ past: fc.array(pastPlan, { maxLength: 3 }), suppressed: fc.option(oneOf.user) });

function deadLetterEntry(each: Read, offset: number): ProjectionEntry {
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

function attemptEntry({ timeMs, destinationId, messageId, status }: Attempt, offset: number): ProjectionEntry {
  const detail = JSON.stringify({ urls: [{ url: "https://a.example", status }] });
  const kind = status === 200 ? "delivered" : "retryable";
  return { timeMs, partition: 0, offset, place: 0, destinationId, kind, messageId, detail, users: "" };
}

/** A store that read these one after the other, and holds so many dead letters. */
export function storeOf(log: readonly (Read | Attempt)[], maxEntries: number): Store {
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
    const entries = { dead_letters: [deadLetterEntry(each, offset)] };
    store.take("dead_letters", { partition, next: offset + 1, passedTo: 0, entries });
  }
  return store;
}

export type ModelOfStore = DeadLettersReadModel & ConstructorParameters<typeof DeadLetterJudge>[0]["readModel"];

export function modelOf(store: Store): ModelOfStore {
  return {
    search: async (name, query) => store.search(name, query),
    at: async (name, places) => store.at(name, places),
    heldDeadLetters: async () => ({ topicId: "T", ranges: store.heldDeadLetters() }),
    deadLetterHours: async (query) => store.deadLetterHours(query),
    groupedDeadLetters: async () => store.groupedDeadLetters(),
    deadLetterEvent: async (event) => store.deadLetterEvent(event),
    deadLetterRows: async (query) => store.deadLetterRows(query),
    groupCounts: async (query) => store.groupCounts(query),
    outcomes: async (name, messageIds) => store.outcomes(name, messageIds),
    newest: async (name, query) => store.newest(name, query),
  };
}

export function partsOf(readModel: ModelOfStore, plans: readonly HeldPlan[], user: string | null): PlanCountParts {
  const past = new PastPlans({ plans: () => plans }, { id: "T" });
  const hasDigest = (digest: string) => digest === digestOf(user ?? "nobody");
  const suppressed = { size: user === null ? 0 : 1, has: () => false, hasDigest };
  return { past, judge: new DeadLetterJudge({ past, suppressed, destinationOf: (id) => KNOWN[id], readModel }) };
}

/** The held ranges without the last record of each: a plan's ends were fixed before that record came. */
export function rangesOf(store: Store): readonly PlannedRange[] {
  return store
    .heldDeadLetters()
    .map(({ partition, from, next }) => ({ partition, start: from, end: Math.max(from, next - 1) }));
}

/** A model that never tells the sizes of groups, so that all rows are read. */
export function withoutGroups(readModel: ModelOfStore): ModelOfStore {
  return { ...readModel, groupCounts: async () => null };
}

/** All that a count tells. */
export function reportedBy(count: PlanCount) {
  const { matched, looked, leftOut, counts, samples } = count;
  return {
    ...{ matched, looked, leftOut, samples, places: count.places().encode() },
    counts: counts.map((each) => JSON.stringify(each)).sort(),
  };
}
