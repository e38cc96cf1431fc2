/** A verdict on an event with more destinations than a page lists, over a store in memory. */

import { attemptEntries, attemptFromEntry } from "@posthaste/read-model/attempt-entry";
import { deadLetterEntries } from "@posthaste/read-model/dead-letter-entry";
import { loggedDeliveryEntries, lostDeliveryEntries } from "@posthaste/read-model/delivery-entry";
import { ofEach, Store } from "@posthaste/read-model/store";
import { attemptAt, deadLetterAt } from "@posthaste/testbed/log-writer";
import { testDestination } from "@posthaste/testbed/test-destination";
import { afterEach, beforeEach, expect, it } from "vitest";
import { judgeWritten, type WrittenParts } from "./event-lookup.ts";
import { causeOf, type JudgedEvent } from "./event-verdict.ts";
import { destinationPage, MAX_LISTED } from "./listed-destinations.ts";

const MANY = 2 * MAX_LISTED + 50;
const EVENT = { messageId: "message-1", originPartition: 0, originOffset: 1 };
const idOf = (n: number): string => `dst_${String(n).padStart(4, "0")}`;

let store: Store;
let next: number;
beforeEach(() => {
  const bounds = ofEach(() => ({ maxEntries: 10_000, keepMs: 3_600_000 }));
  store = new Store({ path: null, identity: "test", bounds, memoryBounds: bounds }, () => Date.now());
  next = 0;
});
afterEach(() => store.close());

function logged(n: number, differing: Parameters<typeof attemptAt>[1] = {}): void {
  const batch = { attempts: [attemptAt(1, { ...EVENT, destinationId: idOf(n), ...differing })], deferrals: [] };
  const at = { partition: 0, offset: next };
  next += 1;
  const entries = { attempts: attemptEntries(batch, at), deliveries: loggedDeliveryEntries(batch, at) };
  store.take("attempts", { partition: 0, next, passedTo: 0, entries });
}

const WAITS = {
  ...{ kind: "retry" as const, urls: null, delayMs: 60_000, dueAtMs: Date.now() + 60_000 },
  ...{ deadlineMs: Date.now() + 100_000, reason: null },
};

const waits = (n: number, attempt = 1) =>
  logged(n, { attempt, outcome: "retryable", startedAtMs: Date.now() - 30_000 + attempt, followUps: [WAITS] });

function died(n: number): void {
  const deadLetter = deadLetterAt(2, { ...EVENT, destinationId: idOf(n) });
  const at = { partition: 0, offset: n, key: null };
  const entries = { dead_letters: deadLetterEntries(deadLetter, at), deliveries: lostDeliveryEntries(deadLetter, at) };
  store.take("dead_letters", { partition: 0, next: n + 1, passedTo: 0, entries });
}

/** The parts that read the store; of dead letters none is hidden. */
function partsOf(configured: number): WrittenParts {
  const freshness = () => ({ asOfMs: null, complete: true });
  const readModel = {
    freshness,
    newest: async (...asked: Parameters<Store["newest"]>) => store.newest(...asked),
    deliveriesOf: async (messageId: string) => store.deliveries.ofMessage(messageId),
  };
  const deadLetters = {
    freshness: freshness(),
    ofMessage: async (asked: Parameters<Store["newest"]>[1]) => ({
      ...{ entries: store.newest("dead_letters", asked), purged: [], suppressed: [] },
    }),
  };
  const destinations = new Map(Array.from({ length: configured }, (_, n) => [idOf(n), testDestination(idOf(n))]));
  return { sources: new Map(), destinations, readModel, deadLetters } as unknown as WrittenParts;
}

type Routed = Extract<JudgedEvent, { readonly routed: unknown }>;

/** Every page of the verdict, as the event of each. */
async function pagesOf(parts: WrittenParts): Promise<readonly Routed[]> {
  const pages: Routed[] = [];
  let cursor: string | undefined;
  do {
    const terms = { nowMs: Date.now(), isSuppressed: () => false, lostOf: () => null };
    const found = await judgeWritten({ messageId: EVENT.messageId, cursor }, parts, terms);
    expect(found.judged).toHaveLength(1);
    pages.push(...(found.judged as readonly Routed[]));
    cursor = found.next ?? undefined;
  } while (cursor !== undefined);
  return pages;
}

const listed = (pages: readonly Routed[]) =>
  pages.flatMap(({ deliveries }) => deliveries.map((each) => [each.destinationId, causeOf(each)] as const));

it("tells of every destination that did not take the event, each once, the worst first, and counts the others", async () => {
  const [dead, waiting] = [[7, 190], Array.from({ length: MAX_LISTED + 20 }, (_, n) => n + 30)];
  for (let n = 0; n < MANY; n += 1) if (!waiting.includes(n) && !dead.includes(n)) logged(n);
  for (const n of waiting) waits(n);
  for (const n of dead) died(n);
  const pages = await pagesOf(partsOf(MANY));
  const reported = listed(pages);
  expect(reported.map(([, cause]) => cause)).toEqual([
    ...dead.map(() => "dead_letter"),
    ...waiting.map(() => "waiting_retry"),
  ]);
  expect(reported.map(([id]) => id).sort()).toEqual([...dead, ...waiting].map(idOf).sort());
  expect(pages.map(({ cause }) => cause)).toEqual(["dead_letter", "dead_letter"]);
  for (const { routed } of pages) {
    const took = [...routed.unlisted.values()].filter(({ state }) => state === "delivered");
    expect(took).toHaveLength(MANY - dead.length - waiting.length);
    expect(routed.said?.userKey).toBe("user-7");
  }
});

it("says of an event that all of many destinations took that it is delivered", async () => {
  for (let n = 0; n < MANY; n += 1) logged(n);
  const [page, ...others] = await pagesOf(partsOf(MANY));
  expect([page?.cause, page?.deliveries, others]).toEqual(["delivered", [], []]);
});

it("lists those without a known delivery behind the others, in pages of their own", async () => {
  for (let n = 0; n < 3; n += 1) logged(n);
  waits(3);
  const pages = await pagesOf(partsOf(MANY));
  const reported = listed(pages);
  expect(new Set(reported.map(([id]) => id)).size).toBe(reported.length);
  expect(reported).toHaveLength(MANY);
  const taken = reported.filter(([, cause]) => cause === "delivered").map(([id]) => id);
  expect(taken.sort()).toEqual([0, 1, 2].map(idOf));
  expect(pages.map(({ cause }) => cause)).toEqual(pages.map(() => "waiting_retry"));
});

it("knows the state of a destination whose attempts are behind the newest that are looked at", async () => {
  waits(0);
  for (let attempt = 1; attempt <= 600; attempt += 1) waits(1, attempt);
  expect(store.newest("attempts", { limit: 1 }).map(attemptFromEntry)[0]?.destinationId).toBe(idOf(1));
  const reported = listed(await pagesOf(partsOf(2)));
  expect(Object.fromEntries(reported)).toEqual({ [idOf(0)]: "waiting_retry", [idOf(1)]: "waiting_retry" });
});

it("refuses a cursor that it did not answer", () => {
  for (const cursor of ["", "x", "delivered", "nonsense:dst_1", "dead_letter:"]) {
    expect(() => destinationPage([], cursor)).toThrow(expect.objectContaining({ kind: "invalid_input" }));
  }
});
