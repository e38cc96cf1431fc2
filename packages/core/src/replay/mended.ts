/**
 * Destinations that were mended: healthy again, with open dead letters that a replay would deliver.
 *
 * ME1  Such dead letters ended by the receiver's answers or silence: `rejected_by_receiver`, whoever has to mend that,
 *      and `window_expired`. The other reasons are choices: a destination that is off or removed, a suppressed user.
 * ME2  No dead letter was written since the destination is healthy, and no later replay took them.
 */
import type { DeadLetter } from "../delivery/dead-letter.ts";
import type { JudgedHealth } from "../health/health-state.ts";

/** Dead letters with one cause. Moments are ms since the epoch. */
export interface DeadLettersOfCause {
  readonly destinationId: string;
  readonly reason: DeadLetter["reason"];
  readonly open: number;
  /** When the first of the open ones died, to the hour, and when the newest of all did. */
  readonly firstOpenMs: number;
  readonly lastMs: number;
}

export interface DeadLettersToReplay extends Pick<DeadLettersOfCause, "destinationId" | "open" | "lastMs"> {
  readonly firstMs: number;
}

/** A replay that began. */
export interface BegunReplay {
  /** Null for one of all destinations. */
  readonly destinationId: string | null;
  readonly createdAtMs: number;
}

/** ME1. */
export function endsWithAnswer(reason: DeadLetter["reason"]): boolean {
  return reason === "rejected_by_receiver" || reason === "window_expired";
}

/** The open dead letters by destination, the most first, without those that a later replay took (ME1, ME2). */
export function deadLettersToReplay(
  causes: readonly DeadLettersOfCause[],
  replays: readonly BegunReplay[],
): readonly DeadLettersToReplay[] {
  const found = new Map<string, DeadLettersToReplay>();
  for (const { destinationId, reason, open, firstOpenMs, lastMs } of causes) {
    if (!endsWithAnswer(reason) || open === 0) continue;
    const known = found.get(destinationId);
    found.set(destinationId, {
      ...{ destinationId, open: open + (known?.open ?? 0) },
      firstMs: Math.min(firstOpenMs, known?.firstMs ?? firstOpenMs),
      lastMs: Math.max(lastMs, known?.lastMs ?? lastMs),
    });
  }
  const isTaken = ({ destinationId, lastMs }: DeadLettersToReplay): boolean =>
    replays.some((each) => (each.destinationId ?? destinationId) === destinationId && each.createdAtMs > lastMs);
  return [...found.values()].filter((each) => !isTaken(each)).sort((a, b) => b.open - a.open);
}

/** ME2. */
export function isMended(
  { state, sinceMs }: Pick<JudgedHealth, "state" | "sinceMs">,
  { lastMs }: Pick<DeadLettersToReplay, "lastMs">,
): boolean {
  return state === "healthy" && (sinceMs === null || sinceMs >= lastMs);
}
