/** Rules: AL3 of audience-lease.ts, AS6 of audience-sync.ts. */
import type { Audience } from "@posthaste/core/audience/audience";
import { SILENT_LOG } from "@posthaste/core/log";
import { expect, it } from "vitest";
import { AudienceLease, type LeaseOptions } from "./audience-lease.ts";

const MEANT: Audience = {
  ...{ id: "aud_1", revision: 1, kind: "computed_trait", name: "A", trait: "a", sourceId: "src_1", bornRevision: 1 },
  ...{ lease: null, lastSync: null, isRemoved: false, createdAtMs: 0, updatedAtMs: 0 },
};
const ANOTHER: Audience = { ...MEANT, revision: 2, kind: "audience", bornRevision: 2 };

/** A store in which one record stands after the other, a look each; the last one stays. */
function leaseFrom(...seen: readonly Audience[]) {
  let looks = 0;
  let nowMs = 0;
  const options = {
    ...{ log: SILENT_LOG, leaseMs: 15_000 },
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    audiences: {
      change: async (_: string, change: (current: Audience | undefined, revision: number) => Audience | null) => {
        const current = seen[Math.min(looks, seen.length - 1)];
        looks += 1;
        nowMs += 1000;
        return change(current, (current?.revision ?? 0) + 1) ?? undefined;
      },
    },
  };
  // As much of the store as a lease uses.
  return AudienceLease.take(options as unknown as LeaseOptions, MEANT, 4000);
}

it("AL3: is taken when another that stood there for a moment is put back", async () => {
  const lease = await leaseFrom(MEANT, ANOTHER);
  expect(lease.audience.bornRevision).toBe(1);
  await lease.release(null, null).catch(() => undefined);
  const later = await leaseFrom(ANOTHER, ANOTHER, MEANT);
  expect(later.audience.bornRevision).toBe(1);
  await later.release(null, null).catch(() => undefined);
});

it("AS6: is not taken of one that was removed, but to end that", async () => {
  const removed = { ...MEANT, isRemoved: true };
  await expect(leaseFrom(removed)).rejects.toMatchObject({ kind: "not_found", message: "aud_1 was removed" });
});

it("AL3: is not taken of another that stays there", async () => {
  await expect(leaseFrom(ANOTHER)).rejects.toMatchObject({ kind: "not_found" });
});
