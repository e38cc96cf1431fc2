import { destinationHealthKey } from "@posthaste/contracts/health-keys";
import { RecentCounts } from "@posthaste/core/health/recent-counts";
import { expect, it } from "vitest";
import { NO_HEALTH } from "../../../test/health-writer.ts";
import { HealthBook } from "./health-book.ts";
import { KnownHealth } from "./known-health.ts";

const MINUTE_MS = 60_000;
const NONE_WAIT = { nextDueMs: null, firstDeadlineMs: null, lastDeadlineMs: null };
/** Half of a minute is over. */
const NOW_MS = 30_000_000 * MINUTE_MS + 30_000;

it("an hour's attempts are told by five minutes, the oldest first, those that failed beside those delivered", () => {
  const recent = new RecentCounts(MINUTE_MS);
  const count = (minutesAgo: number, delivered: number, failed: number) =>
    recent.add(NOW_MS - minutesAgo * MINUTE_MS, {
      ...{ delivered, retryable: failed, permanent: 0, deferred: 0, latencies: [] },
    });
  count(60, 1000, 0);
  count(59, 7, 0);
  count(55, 1, 2);
  count(54, 5, 0);
  count(5, 3, 0);
  count(4, 20, 1);
  count(0, 10, 4);
  const book = new HealthBook({ readToEndMs: () => null, nowMs: () => NOW_MS, onCounted: () => undefined });
  const known = new KnownHealth({
    book: Object.assign(book, { recent: (id: string) => (id === "dst_1" ? recent : undefined) }),
    destinations: Object.assign(new Map(), { find: async () => undefined }),
    readModel: { waitingTimes: async () => NONE_WAIT, waiting: async () => [] },
    deadLetters: async () => ({ open: 0, deliveredSince: 0 }),
    nowMs: () => NOW_MS,
  });
  const { lastHour, attempts, successOfHour } = known.recent("dst_1");
  expect(lastHour).toEqual({
    delivered: [8, 5, 0, 0, 0, 0, 0, 0, 0, 0, 3, 30],
    failed: [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5],
  });
  expect([attempts, successOfHour]).toEqual([35, 46 / 53]);
  expect(known.recent("dst_2").lastHour).toEqual({ delivered: Array(12).fill(0), failed: Array(12).fill(0) });
});

it("what failed is told by URL and answer for an hour, and timeouts as a share of five minutes' requests", () => {
  let nowMs = NOW_MS;
  const book = new HealthBook({ readToEndMs: () => null, nowMs: () => nowMs, onCounted: () => undefined });
  const known = new KnownHealth({
    book,
    destinations: Object.assign(new Map(), { find: async () => undefined }),
    readModel: { waitingTimes: async () => NONE_WAIT, waiting: async () => [] },
    deadLetters: async () => ({ open: 0, deliveredSince: 0 }),
    nowMs: () => nowMs,
  });
  let requests = 0;
  const say = (more: number, ...failures: readonly (readonly [url: string, answer: string, count: number])[]) => {
    requests += more;
    const destination = {
      ...{
        ...NO_HEALTH,
        countedSinceMs: NOW_MS,
        latencies: NO_HEALTH.latencies.map((_, at) => (at === 3 ? requests : 0)),
      },
      failures: failures.map(([url, answer, count]) => ({ url, answer, count })),
    };
    const record = { instance: "i", writtenAtMs: nowMs, destinationId: "dst_1", destination, process: null };
    book.apply(destinationHealthKey("dst_1", "i"), record);
  };
  say(20, ["a", "timeout", 5], ["b", "503", 2]);
  nowMs += 10 * MINUTE_MS;
  say(8, ["a", "timeout", 7], ["b", "503", 9], ["a", "503", 1]);
  const { failures, timeouts } = known.recent("dst_1");
  expect(failures).toEqual([
    { url: "b", answer: "503", count: 9 },
    { url: "a", answer: "timeout", count: 7 },
    { url: "a", answer: "503", count: 1 },
  ]);
  expect(timeouts).toBe(0.25);
  nowMs += 55 * MINUTE_MS;
  expect(known.recent("dst_1")).toMatchObject({ failures: [{ count: 7 }, { count: 2 }, { count: 1 }], timeouts: null });
  expect(known.recent("dst_2")).toMatchObject({ failures: [], timeouts: null });
});

it("tells who needs somebody (HJ3 of health-state.ts), and asks what is owed of those alone that deliver again", async () => {
  const recent = new RecentCounts(MINUTE_MS);
  recent.add(NOW_MS, { ...{ delivered: 9, retryable: 1, permanent: 0, deferred: 0, latencies: [] } });
  const failing = { ...NO_HEALTH, failedAtMs: NOW_MS - 1000, failingSinceMs: NOW_MS - 1000 };
  const again = { ...failing, deliveredAtMs: NOW_MS, recoveredAtMs: NOW_MS, failingSinceMs: null };
  const held = { dst_failing: failing, dst_again: again, dst_letters: again, dst_waits: again, dst_unknown: again };
  const book = new HealthBook({ readToEndMs: () => null, nowMs: () => NOW_MS, onCounted: () => undefined });
  const asked: string[] = [];
  const known = new KnownHealth({
    book: Object.assign(book, {
      of: (id: keyof typeof held) => [held[id]],
      recent: () => recent,
    }),
    destinations: Object.assign(
      new Map(Object.keys(held).map((id) => [id, { id, enabled: true, updatedAtMs: 0, urls: [] }])) as Map<
        string,
        never
      >,
      { find: async () => undefined },
    ),
    readModel: {
      waitingTimes: async () => NONE_WAIT,
      waiting: async () => [{ destinationId: "dst_waits", state: "waiting_retry", delayMs: 10_000, count: 1 }],
    },
    deadLetters: async (id) => {
      asked.push(id);
      if (id === "dst_unknown") throw new Error("the read model cannot be asked");
      return { open: id === "dst_letters" ? 1 : 0, deliveredSince: 12_340 };
    },
    nowMs: () => NOW_MS,
  });
  const attention = await known.needingAttention(known.all());
  expect(attention.map(({ destination }) => destination.id).sort()).toEqual([
    "dst_failing",
    "dst_letters",
    "dst_unknown",
    "dst_waits",
  ]);
  expect(asked.sort()).toEqual(["dst_again", "dst_letters", "dst_unknown", "dst_waits"]);
});
