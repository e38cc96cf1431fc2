import { DatabaseSync } from "node:sqlite";
import { DELIVERY_STATES } from "@posthaste/core/verdict/delivery-state";
import { attemptAt, deadLetterAt, deferralAt } from "@posthaste/testbed/log-writer";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deliveryFromEntry, loggedDeliveryEntries, lostDeliveryEntries } from "./delivery-entry.ts";
import { DeliveryTable } from "./delivery-table.ts";
import type { ProjectionBounds } from "./projection.ts";
import type { ProjectionEntry } from "./projection-entry.ts";

const KEEP_MS = 24 * 60 * 60 * 1000;

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(":memory:");
});
afterEach(() => database.close());

const optionsOf = (bounds: Partial<ProjectionBounds> = {}) => ({
  ...{
    name: "deliveries",
    kinds: DELIVERY_STATES,
    nowMs: () => Date.now(),
    maxEntries: 1000,
    keepMs: KEEP_MS,
    ...bounds,
  },
});

function createTable(bounds: Partial<ProjectionBounds> = {}): DeliveryTable {
  database.exec("DROP TABLE IF EXISTS deliveries");
  return new DeliveryTable(database, optionsOf(bounds));
}

const all = (table: DeliveryTable) => table.projection.newest({ limit: 1000 });

function retryOf(delayMs: number) {
  return {
    kind: "retry" as const,
    urls: null,
    delayMs,
    dueAtMs: Date.now() + delayMs,
    deadlineMs: Date.now() + delayMs + 1000,
    reason: null,
  };
}

/** One record of the log, of one of few deliveries, so that many are of the same. */
const record = fc
  .record({
    what: fc.constantFrom("delivered", "failed", "failed later", "deferred", "dead"),
    n: fc.integer({ min: 1, max: 9 }),
    message: fc.constantFrom("m", "n"),
    destinationId: fc.constantFrom("dst_a", "dst_b"),
    replayId: fc.constantFrom(null, "rpl_1"),
    originOffset: fc.constantFrom(5, 6),
  })
  .map(({ what, n, message: messageId, ...named }) => {
    const of = { messageId, ...named, originPartition: 0 };
    const failed = { outcome: "retryable" as const, followUps: [retryOf(what === "failed" ? 10_000 : 60_000)] };
    return (offset: number): readonly ProjectionEntry[] => {
      const at = { partition: 0, offset };
      if (what === "dead") return lostDeliveryEntries(deadLetterAt(n, of), at);
      if (what === "deferred") return loggedDeliveryEntries({ attempts: [], deferrals: [deferralAt(n, of)] }, at);
      const attempt = attemptAt(n, what === "delivered" ? of : { ...of, ...failed });
      return loggedDeliveryEntries({ attempts: [attempt], deferrals: [] }, at);
    };
  });
const log = fc
  .array(record, { minLength: 1, maxLength: 25 })
  .map((records) => records.flatMap((entriesAt, offset) => entriesAt(offset)));
const inAnyOrder = log.chain((entries) =>
  fc.tuple(fc.constant(entries), fc.shuffledSubarray([...entries, ...entries], { minLength: entries.length * 2 })),
);

/** Counted by looking at each. */
function waitingAmong(entries: readonly ProjectionEntry[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { destinationId, state, delayMs } of entries.map(deliveryFromEntry)) {
    if (state !== "waiting_retry" && state !== "deferred") continue;
    const name = `${destinationId} ${state} ${delayMs}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

const waitingOf = (table: DeliveryTable) =>
  new Map(
    table.waiting().map(({ destinationId, state, delayMs, count }) => [`${destinationId} ${state} ${delayMs}`, count]),
  );

describe("the table of deliveries", () => {
  it("is the same in whatever order entries come, and however often (DY1)", () => {
    fc.assert(
      fc.property(inAnyOrder, ([entries, again]) => {
        const table = createTable();
        table.add(entries);
        const expected = all(table);
        const other = createTable();
        for (const entry of again) other.add([entry]);
        expect(all(other)).toEqual(expected);
      }),
    );
  });

  it("holds one entry of each event, destination and replay, where its newest stands (DY2)", () => {
    fc.assert(
      fc.property(log, (entries) => {
        const table = createTable();
        table.add(entries);
        const nameOf = (entry: ProjectionEntry): string => {
          const { messageId, destinationId, replayId, origin } = deliveryFromEntry(entry);
          return [messageId, destinationId, replayId, origin?.offset].join();
        };
        const newest = new Map<string, number>();
        for (const entry of entries) newest.set(nameOf(entry), Math.max(newest.get(nameOf(entry)) ?? 0, entry.timeMs));
        expect(new Map(all(table).map((entry) => [nameOf(entry), entry.timeMs]))).toEqual(newest);
        expect(all(table)).toHaveLength(newest.size);
      }),
    );
  });

  it("counts what waits by destination and delay, also when it is opened again and when it drops some (DY3)", () => {
    fc.assert(
      fc.property(inAnyOrder, fc.integer({ min: 1, max: 6 }), ([, entries], maxEntries) => {
        const table = createTable({ maxEntries });
        table.add(entries);
        expect(all(table).length).toBeLessThanOrEqual(maxEntries);
        expect(waitingOf(table)).toEqual(waitingAmong(all(table)));
        expect(waitingOf(new DeliveryTable(database, optionsOf({ maxEntries })))).toEqual(waitingAmong(all(table)));
      }),
    );
  });

  it("finds the next due and the first and last given up of those that wait after an attempt, by destination (DY5)", () => {
    fc.assert(
      fc.property(inAnyOrder, fc.integer({ min: 1, max: 6 }), ([, entries], maxEntries) => {
        const table = createTable({ maxEntries });
        table.add(entries);
        for (const destinationId of ["dst_a", "dst_b", "dst_c"]) {
          const retries = all(table)
            .filter((entry) => entry.kind === "waiting_retry" && entry.destinationId === destinationId)
            .flatMap((entry) => deliveryFromEntry(entry).facts.attempts.at(-1)?.followUps ?? []);
          const dues = retries.map(({ dueAtMs }) => dueAtMs ?? 0);
          const deadlines = retries.map(({ deadlineMs }) => deadlineMs ?? 0);
          const { firstDeadlineMs, lastDeadlineMs } = table.waitingTimes(destinationId, 0);
          expect([firstDeadlineMs, lastDeadlineMs]).toEqual(
            deadlines.length === 0 ? [null, null] : [Math.min(...deadlines), Math.max(...deadlines)],
          );
          for (const fromMs of [0, Math.min(...dues) + 1]) {
            const later = dues.filter((dueMs) => dueMs >= fromMs);
            expect(table.waitingTimes(destinationId, fromMs).nextDueMs).toBe(
              later.length === 0 ? null : Math.min(...later),
            );
          }
        }
      }),
    );
  });

  it("finds the next that is due among many that were tried after it (DY5)", () => {
    const table = createTable();
    const waits = (n: number, dueAtMs: number) =>
      loggedDeliveryEntries(
        {
          attempts: [
            attemptAt(n % 60, {
              ...{ messageId: `w-${n}`, destinationId: "dst_a", outcome: "retryable", originOffset: n },
              followUps: [{ ...retryOf(10_000), dueAtMs }],
            }),
          ],
          deferrals: [],
        },
        { partition: 0, offset: n },
      );
    table.add(Array.from({ length: 120 }, (_, n) => waits(n, 5000 + n)).flat());
    expect([0, 5001].map((fromMs) => table.waitingTimes("dst_a", fromMs).nextDueMs)).toEqual([5000, 5001]);
  });

  it("counts how a replay's deliveries stand, and of what was sent once none (DY4)", () => {
    fc.assert(
      fc.property(inAnyOrder, fc.integer({ min: 1, max: 6 }), ([, entries], maxEntries) => {
        const table = createTable({ maxEntries });
        table.add(entries);
        const ofReplay = all(table).filter((entry) => deliveryFromEntry(entry).replayId === "rpl_1");
        const counted = table.replayed(["rpl_1", "rpl_2"]);
        expect(counted.every(({ replayId }) => replayId === "rpl_1")).toBe(true);
        expect(new Map(counted.map(({ state, count }) => [state, count]))).toEqual(
          new Map(ofReplay.map(({ kind }) => [kind, ofReplay.filter((each) => each.kind === kind).length])),
        );
      }),
    );
  });

  it("joins a dead letter with the attempts before it, whichever is read first", () => {
    const table = createTable();
    const attempts = [attemptAt(1, { originPartition: 0, outcome: "retryable", followUps: [retryOf(10_000)] })];
    table.add(
      lostDeliveryEntries(deadLetterAt(3, { messageId: "message-1", originOffset: 1 }), { partition: 4, offset: 7 }),
    );
    table.add(loggedDeliveryEntries({ attempts, deferrals: [] }, { partition: 0, offset: 0 }));
    expect(all(table).map(deliveryFromEntry)).toMatchObject([
      {
        messageId: "message-1",
        state: "dead_letter",
        facts: { deadLetters: [{ place: "4:7" }], attempts: [{ attempt: 1 }] },
      },
    ]);
    expect(table.waiting()).toEqual([]);
  });
});
