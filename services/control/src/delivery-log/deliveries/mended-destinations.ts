/**
 * The destinations that were mended (ME1 and ME2 of mended.ts), with the dead letters that can be sent again.
 *
 * Owns: the last count, which is made at most every `KEEP_MS`: suppressions and purges have dead letters counted one by
 * one.
 */
import { type DeadLettersToReplay, deadLettersToReplay, isMended } from "@posthaste/core/replay/mended";
import type { HeldPlan } from "@posthaste/dead-letters/replay-store";
import type { KnownDestination } from "../../health/health/known-health.ts";
import { type DeadLetterGroup, groupDeadLetters } from "./dead-letter-groups.ts";
import type { VisibleDeadLetters } from "./visible-dead-letters.ts";

/** How long a count is kept, in ms. */
const KEEP_MS = 15_000;

export interface MendedDestinationsParts {
  readonly deadLetters: Pick<VisibleDeadLetters, "hours" | "shown" | "stateOf">;
  readonly plans: () => Iterable<HeldPlan>;
  readonly nowMs: () => number;
}

export interface MendedDestination {
  readonly known: KnownDestination;
  readonly deadLetters: DeadLettersToReplay;
}

export class MendedDestinations {
  readonly #parts: MendedDestinationsParts;
  #counted: { readonly atMs: number; readonly groups: Promise<readonly DeadLetterGroup[]> } | null = null;

  constructor(parts: MendedDestinationsParts) {
    this.#parts = parts;
  }

  /** The mended destinations among `all`, the most dead letters first; none while the delivery log cannot be asked. */
  async among(all: readonly KnownDestination[]): Promise<readonly MendedDestination[]> {
    const groups = await this.#groups().catch(() => []);
    const byId = new Map(all.map((known) => [known.destination.id, known]));
    return deadLettersToReplay(groups.map(causeOf), this.#replays()).flatMap((deadLetters) => {
      const known = byId.get(deadLetters.destinationId);
      return known !== undefined && isMended(known.judged, deadLetters) ? [{ known, deadLetters }] : [];
    });
  }

  #groups(): Promise<readonly DeadLetterGroup[]> {
    const { deadLetters, nowMs } = this.#parts;
    if (this.#counted !== null && nowMs() - this.#counted.atMs < KEEP_MS) return this.#counted.groups;
    const all = { filter: {}, limit: Number.POSITIVE_INFINITY, after: undefined };
    const groups = groupDeadLetters(deadLetters, all).then((page) => page.groups);
    this.#counted = { atMs: nowMs(), groups };
    groups.catch(() => {
      this.#counted = null;
    });
    return groups;
  }

  #replays() {
    return [...this.#parts.plans()]
      .filter(({ plan }) => plan.purpose === "replay" && plan.want !== "planned")
      .map(({ plan, createdAtMs }) => ({ destinationId: plan.filter.destinationId ?? null, createdAtMs }));
  }
}

/** Dead letters from before the first hour with open ones were delivered since. */
function causeOf({ destinationId, reason, open, firstMs, lastMs, hours }: DeadLetterGroup) {
  const openHours = [...hours].flatMap(([hourMs, of]) => (of.open > 0 ? [hourMs] : []));
  const firstOpenMs = openHours.length === 0 ? firstMs : Math.max(firstMs, Math.min(...openHours));
  return { destinationId, reason, open, firstOpenMs, lastMs };
}
