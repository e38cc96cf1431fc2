/**
 * What a working URL gets beside one that hangs, and a slow receiver beside others, in simulated time.
 * `POSTHASTE_SIMULATED_MINUTES=60` makes each row of the first as long as that; by default the quick rows are shorter.
 */
import { DEFAULT_RETRY_DELAYS_MS } from "@posthaste/core/backoff";
import type { Destination } from "@posthaste/core/destination";
import { describe, expect, it } from "vitest";
import { type AnswerOf, SimulatedDelivery } from "./simulated-delivery.ts";

const WORKS = "https://works.example/";
const HANGS = "https://hangs.example/";
const MINUTES = Number(process.env.POSTHASTE_SIMULATED_MINUTES ?? "0");
const STEP_MS = 10;

const destinationOf = (id: string, urls: readonly string[], settle: "any" | "each" = "any") =>
  ({
    id,
    revision: 1,
    enabled: true,
    rateLimitPerSecond: null,
    missingKeyIds: null,
    settle,
    urls: urls.map((url) => ({ url, headers: {} })),
  }) as unknown as Destination;

function simulate(destinations: readonly Destination[], answerOf: AnswerOf): SimulatedDelivery {
  return new SimulatedDelivery({
    destinations,
    answerOf,
    delaysMs: DEFAULT_RETRY_DELAYS_MS,
    windowRecords: 2000,
    partitions: 6,
  });
}

const BESIDE_HANGING: AnswerOf = (url) => (url === HANGS ? "hangs" : { status: 200, afterMs: 20 });

/** Of the deliveries that arrived in so many minutes, the share that the working URL had within a second. */
function shareInTime(
  urls: readonly string[],
  settle: "any" | "each",
  perSecond: number,
  minutes: number,
  answerOf: AnswerOf = BESIDE_HANGING,
): number {
  const simulated = simulate(
    [destinationOf("two", urls, settle), destinationOf("other", ["https://other.example/"])],
    answerOf,
  );
  const arrivedAtMs: number[] = [];
  const due = (elapsedMs: number) => Math.floor((elapsedMs / 1000) * perSecond);
  while (simulated.elapsedMs < minutes * 60_000) {
    simulated.pass(STEP_MS);
    while (arrivedAtMs.length < due(simulated.elapsedMs)) {
      const number = arrivedAtMs.push(simulated.elapsedMs);
      simulated.arrive("two", `${number - 1}`, `user-${number % 500}`);
      if (number % 10 === 0) simulated.arrive("other", `other-${number}`, `user-${number}`);
    }
  }
  simulated.pass(2000);
  const startedMs = 1_000_000_000;
  const inTime = simulated.served.filter(
    ({ url, messageId, servedAtMs }) =>
      url === WORKS && servedAtMs - startedMs - (arrivedAtMs[Number(messageId)] ?? 0) <= 1000,
  );
  simulated.end();
  return new Set(inTime.map(({ messageId }) => messageId)).size / arrivedAtMs.length;
}

describe("a URL that works", () => {
  it.each([
    ["any", 20, 60],
    ["any", 100, 10],
    ["any", 1000, 2],
    ["each", 20, 60],
    ["each", 100, 10],
    ["each", 1000, 2],
  ] as const)(
    "I5: under `settle: %s` has, beside one that hangs, at %i a second nine in ten of what it has alone within a second",
    (settle, perSecond, minutes) => {
      const length = MINUTES > 0 ? MINUTES : minutes;
      const alone = shareInTime([WORKS], settle, perSecond, Math.min(length, 2));
      const beside = shareInTime([WORKS, HANGS], settle, perSecond, length);
      if (MINUTES > 0)
        process.stdout.write(`${settle} ${perSecond}/s ${length} min: ${(beside / alone).toFixed(4)} of alone\n`);
      expect(alone).toBeGreaterThan(0.99);
      expect(beside / alone).toBeGreaterThanOrEqual(0.9);
    },
    3_600_000,
  );

  it.each(["any", "each"] as const)(
    "I5: under `settle: %s` has as much beside one that asks for less, slowly or now and then",
    (settle) => {
      const asksSlowly: AnswerOf = (url) =>
        url === HANGS ? { status: 429, afterMs: 3000 } : { status: 200, afterMs: 20 };
      let requests = 0;
      const asksNowAndThen: AnswerOf = (url) => {
        if (url !== HANGS) return { status: 200, afterMs: 20 };
        requests += 1;
        return { status: requests % 5 === 1 ? 200 : 429, afterMs: 50 };
      };
      for (const answerOf of [asksSlowly, asksNowAndThen]) {
        expect(shareInTime([WORKS, HANGS], settle, 20, 1, answerOf)).toBeGreaterThanOrEqual(0.9);
      }
    },
    60_000,
  );
});

type Neighbour = "none" | "idle" | "busy";

/** Ms from the arrival of a burst to the last of its deliveries. */
function burstMs(count: number, takesMs: number, neighbour: Neighbour): number {
  const answerOf: AnswerOf = (url) => ({ status: 200, afterMs: url === WORKS ? takesMs : 20 });
  const simulated = simulate(
    [destinationOf("slow", [WORKS]), destinationOf("other", ["https://other.example/"])],
    answerOf,
  );
  const served = () => simulated.served.filter(({ url }) => url === WORKS).length;
  let others = 0;
  const passBeside = (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += STEP_MS) {
      simulated.pass(STEP_MS);
      for (let each = 0; neighbour === "busy" && each < 5; each++)
        simulated.arrive("other", `o-${others++}`, `u-${others % 500}`);
    }
  };
  if (neighbour !== "none") simulated.arrive("other", "first", "somebody");
  passBeside(1000);
  const startedMs = simulated.elapsedMs;
  for (let index = 0; index < count; index++) simulated.arrive("slow", `${index}`, `user-${index}`);
  while (served() < count && simulated.elapsedMs - startedMs < 120_000) passBeside(50);
  const tookMs = simulated.elapsedMs - startedMs;
  simulated.end();
  return tookMs;
}

describe("a burst to a receiver that is slow and well", () => {
  it.each([200, 1000, 5000].flatMap((count) => [50, 300, 500, 1000].map((takesMs) => [count, takesMs] as const)))(
    "I1: of %i at %i ms each takes no longer beside an idle neighbour or a busy one than alone",
    (count, takesMs) => {
      const alone = burstMs(count, takesMs, "none");
      const ratios = (["idle", "busy"] as const).map((neighbour) => burstMs(count, takesMs, neighbour) / alone);
      if (MINUTES > 0)
        process.stdout.write(`${count} at ${takesMs} ms: alone ${alone} ms, idle ${ratios[0]}, busy ${ratios[1]}\n`);
      for (const ratio of ratios) expect(ratio).toBeLessThanOrEqual(1.2);
    },
    60_000,
  );
});
