/** The freshness of a list as answers tell it. */
import type { Freshness } from "@posthaste/core/freshness";
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

export interface FreshAnswer {
  readonly asOf: string | null;
  readonly complete: boolean;
}

export function freshAnswer({ asOfMs, complete }: Freshness): FreshAnswer {
  return { asOf: asOfMs === null ? null : new Date(asOfMs).toISOString(), complete };
}
