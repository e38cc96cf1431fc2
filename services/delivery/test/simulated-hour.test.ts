/**
 * The share of a working URL beside one that hangs, and of a slow receiver beside others, in simulated time.
 * `POSTHASTE_SIMULATED_MINUTES=60` makes each row of the first as long as that; by default the quick rows are shorter.
 */
import { describe, expect, it } from "vitest";
import type { AnswerOf } from "./simulated-delivery.ts";
import { destinationOf, type Load, sharesBeside, simulate, WORKS } from "./simulated-share.ts";

const MINUTES = Number(process.env.POSTHASTE_SIMULATED_MINUTES ?? "0");
const STEP_MS = 10;

describe("a URL that works", () => {
  it.each([
    ["any", 20, 60],
    ["any", 100, 10],
    ["any", 1000, 2],
    ["each", 20, 20],
    ["each", 100, 5],
    ["each", 1000, 1],
  ] as const)(
    "I5: under `settle: %s` has beside one that hangs, at %i/s, nine in ten of what it has alone within a second",
    (settle, perSecond, minutes) => {
      const length = MINUTES > 0 ? MINUTES : minutes;
      const load: Load = { settle, perSecond, minutes: length };
      const alone = sharesBeside(null, { ...load, minutes: Math.min(length, 2) }).inTime;
      const beside = sharesBeside(() => "hangs", load).inTime;
      if (MINUTES > 0)
        process.stdout.write(`${settle} ${perSecond}/s ${length} min: ${(beside / alone).toFixed(4)} of alone\n`);
      expect(alone).toBeGreaterThan(0.99);
      expect(beside / alone).toBeGreaterThanOrEqual(0.9);
    },
    3_600_000,
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
  let served = 0;
  simulated.onServed = ({ url }) => {
    if (url === WORKS) served += 1;
  };
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
  while (served < count && simulated.elapsedMs - startedMs < 120_000) passBeside(50);
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
