/** Dead letters by what they died of, and what helps. */
import type { LetterFilter } from "@posthaste/core/replay/letter-filter";
import { letterPlace } from "@posthaste/core/replay/letter-filter";
import { deadLetterFromEntry, factsFromEntry, type ListedDeadLetter } from "../read-model/dead-letter-entry.ts";
import type { VisibleLetters } from "./visible-letters.ts";

const HOUR_MS = 60 * 60 * 1000;

export interface LetterGroup {
  readonly destinationId: string;
  readonly reason: ListedDeadLetter["reason"];
  readonly reasonClass: ListedDeadLetter["reasonClass"];
  /** What the first of its URLs came to; null where there was no attempt. */
  readonly error: string | null;
  count: number;
  firstMs: number;
  lastMs: number;
  /** The newest one. */
  readonly sample: string;
  /** By the hour's begin. */
  readonly hours: Map<number, number>;
}

/** The largest first. */
export async function groupLetters(letters: VisibleLetters, filter: LetterFilter): Promise<readonly LetterGroup[]> {
  const groups = new Map<string, LetterGroup>();
  for await (const entry of letters.shown(filter)) {
    const { destinationId, reason, reasonClass, deadAtMs } = deadLetterFromEntry(entry);
    const [error = null] = factsFromEntry(entry).errors;
    const name = JSON.stringify([destinationId, reason, reasonClass, error]);
    let group = groups.get(name);
    if (group === undefined) {
      const named = { destinationId, reason, reasonClass, error, sample: letterPlace(entry) };
      group = { ...named, count: 0, firstMs: deadAtMs, lastMs: deadAtMs, hours: new Map() };
      groups.set(name, group);
    }
    const hourMs = Math.floor(deadAtMs / HOUR_MS) * HOUR_MS;
    group.count += 1;
    group.firstMs = Math.min(group.firstMs, deadAtMs);
    group.lastMs = Math.max(group.lastMs, deadAtMs);
    group.hours.set(hourMs, (group.hours.get(hourMs) ?? 0) + 1);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

/** What to do about it, in words. */
export function remedyOf({
  reason,
  reasonClass,
  error,
}: Pick<LetterGroup, "reason" | "reasonClass" | "error">): string {
  switch (reason) {
    case "destination_disabled":
      return "turn the destination on, then replay";
    case "destination_removed":
      return "the destination is no more: purge them, or export them";
    case "address_refused":
      return "change the URL, or have an operator allow its network, then replay";
    case "suppressed":
      return "nothing: a deletion asked for it";
    case "rejected_by_receiver":
    case "window_expired":
    case "other":
      break;
  }
  if (error === "401" || error === "403") return "check the secret and the headers of the destination, then replay";
  if (reasonClass === "configuration") return "check the URL of the destination, then replay";
  if (reasonClass === "pipeline") return "look at delivery's log, then replay";
  return reason === "rejected_by_receiver"
    ? "the receiver refuses what it is sent: mend it there, then replay"
    : "the receiver failed for the whole retry window: replay when it answers again";
}
