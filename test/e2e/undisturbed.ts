/**
 * Tests that count attempts, on a machine that may stand still: a request of delivery that had no answer in five
 * seconds is sent again, though the receiver may have had it, or may not.
 */
import { eventually } from "@posthaste/testkit/eventually";
import { expect } from "vitest";
import type { Installation } from "./installation.ts";

const PATIENCE = { timeoutMs: 60_000 };

/** How many requests of delivery have ended without a status since it was started, at a moment when none is out. */
export async function countUnanswered({ system }: Installation): Promise<number> {
  return eventually(async () => {
    const page = await (await fetch(system.metricsUrls.delivery)).text();
    expect(page).toMatch(/^posthaste_requests_in_flight 0$/m);
    const counts = [...page.matchAll(/^posthaste_attempts_total\{.*error="(\w+)"\} (\d+)$/gm)];
    expect(counts.length).toBeGreaterThan(0);
    return counts.reduce((sum, [, error, count]) => sum + (error === "none" ? 0 : Number(count)), 0);
  }, PATIENCE);
}

/**
 * The result of `act` in the first round, from 0, in which every request of delivery was answered. `act` waits for its
 * expectations by `until`, which also ends where a request had no answer.
 */
export async function undisturbed<T>(
  installation: Installation,
  act: (round: number, until: (check: () => void) => Promise<void>) => Promise<T>,
): Promise<T> {
  for (let round = 0; ; round += 1) {
    const before = await countUnanswered(installation);
    const isDisturbed = async () => (await countUnanswered(installation)) > before;
    const made = await act(round, (check) =>
      eventually(async () => {
        if (!(await isDisturbed())) check();
      }, PATIENCE),
    );
    if (!(await isDisturbed())) return made;
  }
}
