/** Dead letters as the API shows them. */
import { DEAD_LETTER_REASONS, type DeadLetter, REASON_CLASSES } from "@posthaste/core/delivery/dead-letter";
import { EVENT_TYPES, OTHER } from "@posthaste/core/event/event";
import { deadLetterPlace } from "@posthaste/core/replay/dead-letter-filter";
import { tenths } from "@posthaste/http-kit/moment";
import { deadLetterFromEntry, type ListedDeadLetter } from "@posthaste/read-model/dead-letter-entry";
import { DEAD_LETTER_STATES, type DeadLetterState } from "@posthaste/read-model/dead-letter-mark";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import { z } from "zod";

export const reason = z.enum([...DEAD_LETTER_REASONS, OTHER]);
export const reasonClass = z
  .enum([...REASON_CLASSES, OTHER])
  .describe("Where it is mended: at the receiver, in the configuration, in the pipeline; other for one from before.");
const time = z.iso.datetime();

const urls = z.array(
  z.object({
    url: z.string(),
    status: z.int().nullable(),
    error: z
      .string()
      .nullable()
      .describe("Null when a status arrived; `not_attempted` or `url_removed` where nothing was sent."),
    durationMs: z.number(),
  }),
);

export const deadLetter = z.object({
  place: z.string().describe("Where it stands in its topic, as partition:offset; what names it."),
  time: time.describe("When it became a dead letter."),
  reason,
  reasonClass,
  destinationId: z.string(),
  sourceId: z.string(),
  messageId: z.string(),
  type: z.enum([...EVENT_TYPES, OTHER]),
  event: z.string().nullable().describe("The name of a track event, a page or a screen."),
  userKey: z.string().nullable().describe("Whose event it was: the user id, else the anonymous id."),
  receivedAt: time.describe("When ingest took the call."),
  attempts: z.int().describe("Attempts made."),
  deferrals: z.int().describe("Times it was deferred without a request."),
  windowStart: time.nullable().describe("The first failed attempt or the first putting-off; null without either."),
  lastAttempt: urls.describe(
    "What each URL answered in the attempt that ended it; empty when there was none. Where each URL is retried on its own: the URLs that are dead.",
  ),
  replayId: z.string().nullable().describe("The replay that sent it last; null when there was none."),
  replays: z.int().describe("How often it was sent again."),
});

const STATE =
  "What became of it, as far as the delivery log knows. deliveredSince: an attempt that began after it had died " +
  "delivered it, or a replay that ended over seven days ago sent it and it did not die again. diedAgain: it was sent " +
  "again and died again, as a newer dead letter. Else open";

/** As lists show it. */
export const listedDeadLetter = deadLetter.extend({ state: z.enum(DEAD_LETTER_STATES).describe(`${STATE}.`) });

/** As it is shown where the delivery log may not hold it. */
const foundDeadLetter = deadLetter.extend({
  state: z.enum(DEAD_LETTER_STATES).nullable().describe(`${STATE}; null where the delivery log does not hold it.`),
});

type FoundDeadLetter = z.output<typeof foundDeadLetter>;

export const wholeDeadLetter = foundDeadLetter.extend({
  firstAttemptAt: time.nullable(),
  history: z
    .array(z.object({ attempt: z.int(), replayId: z.string().nullable(), startedAt: time, urls }))
    .describe("The attempts that failed, oldest first; of many the first three and the last twelve."),
  origin: z
    .object({ topic: z.string(), partition: z.int(), offset: z.int() })
    .nullable()
    .describe("The record of its event; null where it is not known."),
  body: z.string().describe("The exact request body; empty where a deletion asked for that."),
  rest: z.string().nullable().describe("What the event has beside the body, as JSON; null for nothing."),
});

export function viewEntry(entry: ProjectionEntry, state: DeadLetterState): z.output<typeof listedDeadLetter> {
  return { ...viewListed(deadLetterPlace(entry), deadLetterFromEntry(entry)), state };
}

/** The row of the list, with no other fields, of a dead letter that just came, with its state as it was known then. */
export function viewDeadLetter(
  entry: ProjectionEntry,
  stateOf: (entry: ProjectionEntry) => DeadLetterState,
): FoundDeadLetter {
  const state = entry.mark === undefined ? null : stateOf(entry);
  return foundDeadLetter.parse({ ...viewListed(deadLetterPlace(entry), deadLetterFromEntry(entry)), state });
}

export interface WholeDeadLetter {
  readonly place: string;
  readonly deadLetter: DeadLetter;
  readonly state: DeadLetterState | null;
}

export function viewWhole({ place, deadLetter: dead, state }: WholeDeadLetter): z.output<typeof wholeDeadLetter> {
  const { firstAttemptAtMs, history, originTopic, originPartition, originOffset, body, restJson } = dead;
  return {
    ...viewListed(place, dead),
    state,
    firstAttemptAt: momentOf(firstAttemptAtMs),
    history: history.map(({ startedAtMs, urls: called, ...attempt }) => ({
      ...attempt,
      startedAt: new Date(startedAtMs).toISOString(),
      urls: called.map(viewUrl),
    })),
    origin: originTopic === null ? null : { topic: originTopic, partition: originPartition, offset: originOffset },
    body: Buffer.from(body).toString(),
    rest: restJson,
  };
}

function viewListed(place: string, dead: ListedDeadLetter): z.output<typeof deadLetter> {
  const { deadAtMs, receivedAtMs, windowStartMs, lastAttempt } = dead;
  const { reason: why, reasonClass: where, destinationId, sourceId, messageId, type, event, userKey } = dead;
  const { attempts, deferrals, replayId, replays } = dead;
  return {
    ...{ place, reason: why, reasonClass: where, destinationId, sourceId, messageId, type, event, userKey },
    ...{ attempts, deferrals, replayId, replays },
    time: new Date(deadAtMs).toISOString(),
    receivedAt: new Date(receivedAtMs).toISOString(),
    windowStart: momentOf(windowStartMs),
    lastAttempt: lastAttempt.map(viewUrl),
  };
}

function viewUrl({ url, status, error, durationMs }: DeadLetter["lastAttempt"][number]) {
  return { url, status, error, durationMs: tenths(durationMs) };
}

export function momentOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
