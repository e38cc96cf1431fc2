/** How fresh a list is that was read from a topic. */
import { z } from "zod";

/** Of every such list, beside its entries. */
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

/** Null where that is not known yet. */
export function freshAsOf(asOfMs: number | null, complete: boolean): Freshness {
  return { asOf: asOfMs === null ? null : new Date(asOfMs).toISOString(), complete };
}

/** Of a list that is made of both: what is true of it is true of either. */
export function freshnessOfBoth(one: Freshness, other: Freshness): Freshness {
  const asOf = one.asOf === null || other.asOf === null ? null : one.asOf < other.asOf ? one.asOf : other.asOf;
  return { asOf, complete: one.complete && other.complete };
}
