/** Finds in the audit who switched destinations off. */
import type { AuditLog, HeldEntry } from "@posthaste/configuration/audit-log";
import type { JudgedDelivery, JudgedEvent } from "./event-verdict.ts";

/** The most ms between a change and its audit entry, which control sends together: as long as a change may take. */
const APART_MS = 10_000;
/** How long, in ms, the audit may take to answer; after that the verdict goes without it. */
const PATIENCE_MS = 1000;

/** The same events, with the names of those who switched their destinations off. */
export async function nameWhoSwitchedOff(
  judged: readonly JudgedEvent[],
  audit: Pick<AuditLog, "page">,
): Promise<readonly JudgedEvent[]> {
  const wanted = judged.flatMap(deliveriesOf).filter((each) => switchedOffAt(each) !== null);
  if (wanted.length === 0) return judged;
  const isWanted = (entry: HeldEntry) => wanted.some((each) => isOf(entry, each));
  const page = await audit.page({ limit: wanted.length, fits: isWanted }, PATIENCE_MS).catch(() => null);
  const named = (delivery: JudgedDelivery): JudgedDelivery => {
    const entry = page?.entries.find((each) => isOf(each, delivery));
    if (entry === undefined || delivery.verdict?.cause !== "destination_off") return delivery;
    return { ...delivery, verdict: { ...delivery.verdict, by: entry.actor } };
  };
  return judged.map((each) => ("deliveries" in each ? { ...each, deliveries: each.deliveries.map(named) } : each));
}

function deliveriesOf(each: JudgedEvent): readonly JudgedDelivery[] {
  return "deliveries" in each ? each.deliveries : [];
}

function isOf({ target, atMs, changes }: HeldEntry, { destinationId, verdict }: JudgedDelivery): boolean {
  const sinceMs = switchedOffAt({ verdict });
  if (sinceMs === null || target !== destinationId || Math.abs(atMs - sinceMs) > APART_MS) return false;
  return changes.some(({ field, to }) => field === "enabled" && to === "false");
}

function switchedOffAt({ verdict }: Pick<JudgedDelivery, "verdict">): number | null {
  return verdict?.cause === "destination_off" ? verdict.sinceMs : null;
}
