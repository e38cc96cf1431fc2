import type { JudgedHealth } from "@posthaste/core/health/health-state";
import { describe, expect, it } from "vitest";
import { type News, NOTHING_REPORTED, newsOf, type Reported, type SeenDestination } from "./news.ts";

const NOW = Date.parse("2026-11-28T12:00:00.000Z");
const MINUTE = 60_000;
const nothing = { reason: null, nextProbeMs: null, deliversAgainSinceMs: null, sinceMs: null };
const reason = {
  ...{ url: "https://shop.example/hook/a-secret-path?key=1", atMs: NOW, outcome: "retryable" as const },
  ...{ status: 503, error: null, durationMs: 4 },
};
const well: JudgedHealth = { ...nothing, state: "healthy" };
const failingFor = (ms: number, nowMs = NOW): JudgedHealth => ({
  ...nothing,
  ...{ state: "failing", sinceMs: nowMs - ms, reason },
});
const openFor = (ms: number, nowMs = NOW): JudgedHealth => ({
  ...{ ...nothing, state: "open", sinceMs: nowMs - ms, reason, nextProbeMs: nowMs + MINUTE },
});

const seen = (judged: JudgedHealth, openDeadLetters: number | null = 0): SeenDestination => ({
  ...{ id: "dst_1", name: "Shop", judged, openDeadLetters },
});
const events = (news: readonly News[]) => news.map(({ event }) => event);

/** Goes through the health at each moment, in minutes from now, and returns the events with their minutes. */
function tell(...moments: readonly (readonly [minute: number, judged: JudgedHealth, dead?: number | null])[]) {
  let reported: Reported = NOTHING_REPORTED;
  return moments.flatMap(([minute, judged, dead = 0]) => {
    const result = newsOf(seen(judged, dead), reported, NOW + minute * MINUTE);
    reported = result.reported;
    return result.news.map(({ event }) => `${minute} ${event.replace("destination.", "")}`);
  });
}

describe("OE1: a state", () => {
  it("is told when it has lasted: failing for a minute", () => {
    expect(newsOf(seen(failingFor(MINUTE - 1)), NOTHING_REPORTED, NOW)).toEqual({
      reported: NOTHING_REPORTED,
      news: [],
    });
    const { reported, news } = newsOf(seen(failingFor(MINUTE)), NOTHING_REPORTED, NOW);
    const since = "2026-11-28T11:59:00.000Z";
    expect(news).toEqual([
      {
        event: "destination.failing",
        properties: {
          ...{ destinationId: "dst_1", name: "Shop", since },
          // Neither the path nor the query is told.
          ...{ origin: "https://shop.example", status: 503, error: null },
        },
      },
    ]);
    expect(reported).toMatchObject({ count: 1, state: "failing", stateAtMs: NOW, failingSinceMs: Date.parse(since) });
  });

  it("is told when it has lasted: an open breaker for ten minutes, with the next probe", () => {
    expect(events(newsOf(seen(openFor(10 * MINUTE - 1)), NOTHING_REPORTED, NOW).news)).toEqual(["destination.failing"]);
    const { news } = newsOf(seen(openFor(10 * MINUTE)), NOTHING_REPORTED, NOW);
    expect(news).toMatchObject([
      { event: "destination.stopped", properties: { nextProbe: "2026-11-28T12:01:00.000Z" } },
    ]);
  });

  it("is told once, and so is its end", () => {
    const at = (minute: number) => NOW + minute * MINUTE;
    expect(
      tell(
        [0, failingFor(MINUTE)],
        [1, failingFor(2 * MINUTE, at(1))],
        [60, failingFor(61 * MINUTE, at(60))],
        [61, well],
        [62, well],
      ),
    ).toEqual(["0 failing", "61 recovered"]);
  });

  it("gets worse and not a little better: after stopped comes recovered alone", () => {
    const at = (minute: number) => NOW + minute * MINUTE;
    expect(
      tell(
        [0, openFor(MINUTE)],
        [9, openFor(10 * MINUTE, at(9))],
        [20, failingFor(21 * MINUTE, at(20))],
        [30, openFor(31 * MINUTE, at(30))],
        [40, well],
      ),
    ).toEqual(["0 failing", "9 stopped", "40 recovered"]);
  });

  it("is not sure before a minute without a failed attempt", () => {
    const again = (ms: number, nowMs: number): JudgedHealth => ({
      ...failingFor(30 * MINUTE, nowMs),
      deliversAgainSinceMs: nowMs - ms,
    });
    const at = (minute: number) => NOW + minute * MINUTE;
    expect(
      tell([0, failingFor(MINUTE)], [10, again(MINUTE - 1, at(10))], [11, again(MINUTE, at(11))], [12, well]),
    ).toEqual(["0 failing", "11 recovered"]);
    const { reported } = newsOf(seen(failingFor(MINUTE)), NOTHING_REPORTED, NOW);
    expect(newsOf(seen(well, 3), { ...reported, openDeadLetters: 3 }, at(10)).news).toEqual([
      {
        event: "destination.recovered",
        properties: {
          ...{ destinationId: "dst_1", name: "Shop", failingSince: "2026-11-28T11:59:00.000Z", openDeadLetters: 3 },
        },
      },
    ]);
  });

  it("of a destination that was always well is no news", () => {
    expect(newsOf(seen(well), NOTHING_REPORTED, NOW)).toEqual({ reported: NOTHING_REPORTED, news: [] });
  });
});

describe("OE2: the next word", () => {
  const at = (minute: number) => NOW + minute * MINUTE;

  it("comes five minutes later at the earliest, and tells the state of then", () => {
    expect(tell([0, failingFor(MINUTE)], [1, well], [4, well], [5, well])).toEqual(["0 failing", "5 recovered"]);
    expect(tell([0, failingFor(MINUTE)], [2, well], [5, failingFor(MINUTE, at(5))], [9, well])).toEqual([
      "0 failing",
      "9 recovered",
    ]);
  });

  it("waits for no moment in the future, as after a step of the clock", () => {
    const reported: Reported = { ...NOTHING_REPORTED, state: "failing", stateAtMs: at(600), deadLettersAtMs: at(600) };
    expect(events(newsOf(seen(well, 1), reported, NOW).news)).toEqual([
      "destination.recovered",
      "destination.dead_letters",
    ]);
  });
});

describe("OE3: dead letters", () => {
  it("are told when there are more, once an hour", () => {
    const { news, reported } = newsOf(seen(well, 3), NOTHING_REPORTED, NOW);
    expect(news).toEqual([
      {
        event: "destination.dead_letters",
        properties: { destinationId: "dst_1", name: "Shop", openDeadLetters: 3, more: 3 },
      },
    ]);
    expect(reported).toMatchObject({ count: 1, openDeadLetters: 3, state: "well", stateAtMs: 0 });
    expect(tell([0, well, 3], [1, well, 3], [30, well, 9], [59, well, 9], [60, well, 9])).toEqual([
      "0 dead_letters",
      "60 dead_letters",
    ]);
  });

  it("that were replayed are noted, and those that are not known change nothing", () => {
    expect(tell([0, well, 3], [10, well, 0], [20, well, null], [70, well, 1])).toEqual([
      "0 dead_letters",
      "70 dead_letters",
    ]);
    expect(tell([0, well, 3], [70, well, null], [80, well, 3])).toEqual(["0 dead_letters"]);
  });
});

it("OE4: a destination that is switched off is no news, nor is its end", () => {
  const off: JudgedHealth = { ...nothing, state: "off", sinceMs: NOW };
  expect(tell([0, failingFor(MINUTE)], [1, off], [30, well])).toEqual(["0 failing"]);
});
