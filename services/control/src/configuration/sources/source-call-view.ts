/**
 * A source's newest calls as the API shows them: those accepted, those rejected, and requests that ingest refused as a
 * whole.
 */

import { userOf } from "@posthaste/core/routing/partition-key";
import { shortName } from "@posthaste/core/routing/short-name";
import { freshness } from "@posthaste/http-kit/freshness";
import { isoTime } from "@posthaste/http-kit/moment";
import type { ListedRefusal } from "@posthaste/read-model/activity-entry";
import type { ProjectionCursor } from "@posthaste/read-model/projection-entry";
import type { ListedRejectedCall } from "@posthaste/read-model/rejected-call-entry";
import { z } from "zod";
import type { TailedEvent } from "./newest-events.ts";
import { adviceFor } from "./refusal-advice.ts";

const codeCount = z.object({
  code: z.string(),
  count: z.int(),
  advice: z.string().describe("What to change."),
});

const sourceCall = z.object({
  id: z.string().describe("Names the entry; the same at every process."),
  time: z.iso.datetime().describe("When ingest had it."),
  what: z
    .enum(["taken", "rejected", "refused"])
    .describe("rejected: one call was not taken; refused: a request was, with whatever was in it."),
  code: z.string().nullable().describe("Why it was not taken."),
  advice: z.string().nullable().describe("What to change."),
  message: z.string().nullable().describe("rejected: what ingest answered."),
  status: z.int().nullable().describe("refused: what the request was answered with."),
  type: z.string().nullable(),
  event: z.string().nullable().describe("track: the event's name; page, screen: the name."),
  userKey: z.string().nullable().describe("The user id, else the anonymous id."),
  messageIds: z.array(z.string()).describe("Of a refused request up to 20, where its body was read."),
  path: z.string().nullable().describe("refused: of the address."),
  bytes: z.int().nullable().describe("refused: of the body as it was sent."),
  userAgent: z.string().nullable(),
  unknownKey: z.string().nullable().describe("Of a key that no source has: four characters and a hash."),
});
export type SourceCall = z.input<typeof sourceCall>;

export const sourceCallsAnswer = {
  name: "SourceCalls",
  schema: z.object({
    data: z.array(sourceCall).describe("Newest first; of a source that sends a lot twenty a second."),
    counts: z.object({
      since: z.iso.datetime(),
      accepted: z.int().describe("Calls that were taken since then, as far as ingest has told: it does every 10 s."),
      perSecond: z.number().describe("Calls that were taken a second, in the newest minute that ingest has told of."),
      lastAcceptedAt: z.iso.datetime().nullable(),
      rejected: z.array(codeCount).describe("Calls that were not taken while their request was read."),
      refused: z.array(codeCount).describe("Requests that were refused as a whole."),
    }),
    ...freshness,
  }),
};
export type SourceCallCounts = z.input<typeof sourceCallsAnswer.schema>["counts"];

const NOTHING = {
  ...{ code: null, advice: null, message: null, status: null, type: null, event: null, userKey: null },
  ...{ messageIds: [], path: null, bytes: null, userAgent: null, unknownKey: null },
} satisfies Partial<SourceCall>;

export function viewTaken({ event, partition, offset }: TailedEvent): SourceCall {
  const name = event.event ?? event.name;
  return {
    ...NOTHING,
    id: `taken:${partition}:${offset}`,
    time: isoTime(event.receivedAtMs),
    what: "taken",
    type: event.type,
    event: name === null ? null : shortName(name),
    userKey: shortName(userOf(event)),
    messageIds: [event.messageId],
  };
}

type Placed = Pick<ProjectionCursor, "partition" | "offset" | "place">;

export function viewRejected(call: ListedRejectedCall, { partition, offset, place }: Placed): SourceCall {
  const { code, message, rejectedAtMs, event, userKey, messageId } = call;
  return {
    ...NOTHING,
    id: `rejected:${partition}:${offset}:${place}`,
    time: isoTime(rejectedAtMs),
    what: "rejected",
    ...{ code, advice: adviceFor(code), message, event, userKey },
    messageIds: messageId === null ? [] : [messageId],
  };
}

export function viewRefused(request: ListedRefusal, { partition, offset, place }: Placed): SourceCall {
  const { atMs, status, code, path, bytes, userAgent, messageIds, unknownKey } = request;
  return {
    ...NOTHING,
    id: `refused:${partition}:${offset}:${place}`,
    time: isoTime(atMs),
    what: "refused",
    ...{ code, advice: adviceFor(code), status, path, bytes, userAgent, messageIds: [...messageIds], unknownKey },
  };
}
