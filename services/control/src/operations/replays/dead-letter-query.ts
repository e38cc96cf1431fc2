/** The filters of dead letters as callers give them, in a query or a body. */
import { DEAD_LETTER_REASONS } from "@posthaste/core/delivery/dead-letter";
import { EVENT_TYPES, OTHER } from "@posthaste/core/event/event";
import type { DeadLetterFilter } from "@posthaste/core/replay/dead-letter-filter";
import { timeRange } from "@posthaste/http-kit/moment";
import { z } from "zod";

const MAX_NAMED = 5000;

const REASONS = [...DEAD_LETTER_REASONS, OTHER] as const;
const TYPES = [...EVENT_TYPES, OTHER] as const;

/** The fields that the query of a list and the body of a plan have in common. */
export const deadLetterFilterQuery = {
  destinationId: z.string().optional(),
  reason: z.enum(REASONS, `expected one of ${REASONS.join(", ")}`).optional(),
  error: z
    .string()
    .optional()
    .describe("What one of its URLs came to: a status such as 503, or a code such as timeout."),
  type: z.enum(TYPES, `expected one of ${TYPES.join(", ")}`).optional(),
  userId: z.string().optional().describe("Whose event it was, by user id, else by anonymous id."),
  sourceId: z.string().optional(),
  event: z.string().optional().describe("The name of a track event, a page or a screen."),
  ...timeRange,
};

export const deadLetterInput = {
  ...deadLetterFilterQuery,
  messageIds: z.array(z.string()).min(1).max(MAX_NAMED).optional(),
  places: z
    .array(z.string().regex(/^\d{1,9}:\d{1,15}$/, "expected a place such as 3:1042"))
    .min(1)
    .max(MAX_NAMED)
    .optional()
    .describe("Where they stand in their topic, as partition:offset."),
};

const asked = z.object(deadLetterInput);

const time = z.iso.datetime().optional();

/** The filter as the API shows it. */
export const deadLetterFilter = asked.extend({ since: time, until: time });

/** The filter of a caller's input, without the fields that the caller left out. */
export function filterFrom({ since, until, ...named }: z.output<typeof asked>): DeadLetterFilter {
  const filter: DeadLetterFilter = {
    destinationId: named.destinationId,
    reason: named.reason,
    error: named.error,
    type: named.type,
    userId: named.userId,
    sourceId: named.sourceId,
    event: named.event,
    sinceMs: since,
    untilMs: until,
    messageIds: named.messageIds,
    places: named.places,
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

/** A filter as the API shows it. */
export function viewFilter({ sinceMs, untilMs, ...named }: DeadLetterFilter): z.input<typeof deadLetterFilter> {
  return {
    ...named,
    messageIds: named.messageIds === undefined ? undefined : [...named.messageIds],
    places: named.places === undefined ? undefined : [...named.places],
    since: sinceMs === undefined ? undefined : new Date(sinceMs).toISOString(),
    until: untilMs === undefined ? undefined : new Date(untilMs).toISOString(),
  };
}
