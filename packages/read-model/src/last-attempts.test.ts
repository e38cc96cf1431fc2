import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LastAttemptsQuery } from "./last-attempts.ts";
import { Projection } from "./projection.ts";

const NOW_MS = 1_000_000;
const OPTIONS = { name: "attempts", kinds: ["delivered", "retryable", "permanent"], nowMs: () => NOW_MS };
const BOUNDS = { maxEntries: 1000, keepMs: NOW_MS - 100 };

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(":memory:");
});
afterEach(() => database.close());

function timesOf(...attempts: readonly (readonly [destinationId: string, kind: string, timeMs: number])[]) {
  const projection = new Projection(database, { ...OPTIONS, ...BOUNDS });
  projection.add(
    attempts.map(([destinationId, kind, timeMs], offset) => ({
      ...{ timeMs, partition: 0, offset, place: 0, destinationId, kind, messageId: "m", detail: "{}", users: "" },
    })),
  );
  const query = new LastAttemptsQuery(database, { ...OPTIONS, ...BOUNDS });
  return query.of(["a", "none"]).map(({ delivered, failed, recovered, firstFailed }) => {
    return [delivered, failed, recovered, firstFailed].map((each) => each?.timeMs ?? null);
  });
}

const NOTHING = [null, null, null, null];

it("tells the newest attempt that delivered, the newest that failed, and since when all fail", () => {
  const [found, none] = timesOf(
    ...([
      ["a", "retryable", 200],
      ["a", "delivered", 300],
      ["a", "permanent", 400],
      ["a", "retryable", 500],
      ["b", "delivered", 900],
    ] as const),
  );
  expect(found).toEqual([300, 500, null, 400]);
  expect(none).toEqual(NOTHING);
});

it("tells since when a destination delivers again", () => {
  const [found] = timesOf(["a", "permanent", 200], ["a", "delivered", 300], ["a", "delivered", 400]);
  expect(found).toEqual([400, 200, 300, null]);
});

it("tells since when a destination fails that never delivered, and nothing too old to be shown", () => {
  expect(timesOf(["a", "retryable", 99], ["a", "retryable", 150], ["a", "permanent", 200])[0]).toEqual([
    null,
    200,
    null,
    150,
  ]);
});
