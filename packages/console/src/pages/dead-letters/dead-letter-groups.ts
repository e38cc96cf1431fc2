/** Groups of dead letters: what tells them apart, and the filter that finds the dead letters of one. */
import type { DeadLetterGroupPage } from "../../api/api-types.ts";
import type { DeadLetterFilterKey } from "../../dead-letters/dead-letter-filter.ts";
import type { Filter } from "../../listing/filter.ts";

type Counted = DeadLetterGroupPage["data"][number];

export interface Group extends Counted {
  /** See `readHealth`. */
  readonly together: string;
}

export function keyOf({ destinationId, reason, reasonClass, error }: Counted): string {
  return JSON.stringify([destinationId, reason, reasonClass, error]);
}

export function filterOf({ destinationId, reason, error }: Counted): Filter<DeadLetterFilterKey> {
  return { destinationId, reason, ...(error === null ? {} : { error }) };
}

export function isSuppressed({ reason }: Counted): boolean {
  return reason === "suppressed";
}

/** Of all pages, each once: one that grew between two pages was on both. */
export function groupsOf(pages: readonly { readonly data: readonly Group[] }[]): readonly Group[] {
  return [...new Map(pages.flatMap(({ data }) => data).map((group) => [keyOf(group), group])).values()];
}
