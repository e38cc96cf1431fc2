/** Which live topics a stream shows, and the filters that it takes from the lists of the same names. */
import { DEAD_LETTER_REASONS } from "@posthaste/core/delivery/dead-letter";
import { ATTEMPT_OUTCOMES } from "@posthaste/core/delivery/outcome";
import { OTHER } from "@posthaste/core/event/event";
import { invalidInput } from "@posthaste/http-kit/problem";
import { z } from "zod";
import { attemptFilter } from "../deliveries/attempt-filter.ts";

/** Every live topic, with the filters that it has. */
export const LIVE_TOPICS = {
  deliveries: { filters: ["destinationId", "outcome", "messageId", ...Object.keys(attemptFilter)] },
  "dead-letters": {
    filters: ["destinationId", "reason", "error", "type", "userId", "sourceId", "event"],
  },
  replays: { filters: ["replayId"] },
  health: { filters: ["destinationId"] },
  calls: { filters: ["sourceId"] },
  audit: { filters: ["actor", "target", "operation"] },
} as const;
export type LiveTopicName = keyof typeof LIVE_TOPICS;
export const LIVE_TOPIC_NAMES = Object.keys(LIVE_TOPICS) as readonly LiveTopicName[];

const REASONS = [...DEAD_LETTER_REASONS, OTHER] as const;
const EXPECTED_TOPICS = `expected some of ${LIVE_TOPIC_NAMES.join(", ")}, divided by commas`;

const filters = {
  destinationId: z.string().optional(),
  messageId: z.string().optional().describe("deliveries: X-Message-Id of the requests."),
  outcome: z
    .enum(ATTEMPT_OUTCOMES, `expected one of ${ATTEMPT_OUTCOMES.join(", ")}`)
    .optional()
    .describe("deliveries: what the attempt as a whole came to."),
  ...attemptFilter,
  reason: z
    .enum(REASONS, `expected one of ${REASONS.join(", ")}`)
    .optional()
    .describe("dead-letters: why it will not be tried again."),
  actor: z.string().optional().describe("audit: the name or the id of a token."),
  target: z.string().optional().describe("audit: the id of what was changed, or of a user."),
  operation: z.string().optional().describe("audit: as in /openapi.json."),
};

export const liveQuery = z.strictObject({
  topics: z.string(EXPECTED_TOPICS).describe(`Some of ${LIVE_TOPIC_NAMES.join(", ")}, divided by commas.`),
  lastEventId: z
    .string()
    .optional()
    .describe("The id of the last event that was seen, for who cannot send the header Last-Event-ID."),
  ...filters,
});

export type LiveFilter = Omit<z.output<typeof liveQuery>, "topics" | "lastEventId">;

export interface LiveAsked {
  readonly topics: readonly LiveTopicName[];
  readonly filter: LiveFilter;
}

/**
 * Reads a stream's query. A filter narrows the topics that have it; throws the Problem `invalid_input` where none of
 * the topics that the caller asks for has it.
 */
export function askedFrom({ topics: text, lastEventId: _, ...filter }: z.output<typeof liveQuery>): LiveAsked {
  const named = new Set(text.split(","));
  const topics = LIVE_TOPIC_NAMES.filter((name) => named.delete(name));
  if (named.size > 0 || topics.length === 0) throw invalidInput([{ path: "topics", message: EXPECTED_TOPICS }]);
  const known = new Set<string>(topics.flatMap((name) => LIVE_TOPICS[name].filters));
  const strays = Object.entries(filter).filter(([name, value]) => value !== undefined && !known.has(name));
  if (strays.length > 0) {
    throw invalidInput(strays.map(([path]) => ({ path, message: `no topic of ${topics.join(", ")} has this filter` })));
  }
  if (topics.includes("calls") && filter.sourceId === undefined) {
    throw invalidInput([{ path: "sourceId", message: "calls are those of one source: name it" }]);
  }
  return { topics, filter };
}
