/** How fresh a list is that was read from a topic. */
import { z } from "zod";

/** The fields that every list read from a topic has beside its entries. */
export const freshness = {
  asOf: z.iso
    .datetime()
    .nullable()
    .describe("Everything that stood in the topic then is in it; null before that is known."),
  complete: z
    .boolean()
    .describe("False while control is still reading the topic: entries may be missing, the newest ones most of all."),
};

export interface Freshness {
  readonly asOf: string | null;
  readonly complete: boolean;
}

/** `asOfMs`: everything that stood in the topic at that moment has been read; null where that is not known yet. */
export function freshAsOf(asOfMs: number | null, complete: boolean): Freshness {
  return { asOf: asOfMs === null ? null : new Date(asOfMs).toISOString(), complete };
}

/** The freshness of a list that is made of two topics: the older `asOf`, and complete only where both are. */
export function freshnessOfBoth(one: Freshness, other: Freshness): Freshness {
  const asOf = one.asOf === null || other.asOf === null ? null : one.asOf < other.asOf ? one.asOf : other.asOf;
  return { asOf, complete: one.complete && other.complete };
}
