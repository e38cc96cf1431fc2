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

/** Takes the lease of `MEANT` where this record stands. */
function leaseFrom(current: Audience) {
  const options = {
    ...{ log: SILENT_LOG, leaseMs: 15_000, clock: { nowMs: () => 0, monotonicMs: () => 0 } },
    audiences: {
      change: async (_: string, change: (current: Audience | undefined, revision: number) => Audience | null) =>
        change(current, current.revision + 1) ?? undefined,
    },
  };
  // As much of the store as a lease uses.
  return AudienceLease.take(options as unknown as LeaseOptions, MEANT, 4000);
}

it("AS6: is not taken of one that was removed, but to end that", async () => {
  const removed = { ...MEANT, isRemoved: true };
  await expect(leaseFrom(removed)).rejects.toMatchObject({ kind: "not_found", message: "aud_1 was removed" });
});

it("AL3: is taken of the audience that was meant alone", async () => {
  const lease = await leaseFrom(MEANT);
  expect(lease.audience.bornRevision).toBe(1);
  await lease.release(null, null).catch(() => undefined);
  await expect(leaseFrom(ANOTHER)).rejects.toMatchObject({ kind: "not_found" });
});
