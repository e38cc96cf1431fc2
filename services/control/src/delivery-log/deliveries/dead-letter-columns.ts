/** Dead letters as rows, with the same columns in every format of an export. */
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { deadLetterPlace } from "@posthaste/core/replay/dead-letter-filter";
import type { FoundDeadLetter } from "@posthaste/dead-letters/dead-letter-reader";

/** `json`: a JSON text, byte for byte as the record holds it. */
export type ColumnKind = "text" | "count" | "time" | "json";
export type Cell = string | number | null;

export interface DeadLetterColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  /** The cell of a dead letter; a time is in ms since the epoch. */
  readonly of: (deadLetter: DeadLetter, found: FoundDeadLetter) => Cell;
}

export const DEAD_LETTER_COLUMNS: readonly DeadLetterColumn[] = [
  { name: "place", kind: "text", of: (_, { facts }) => deadLetterPlace(facts) },
  { name: "time", kind: "time", of: ({ deadAtMs }) => deadAtMs },
  { name: "reason", kind: "text", of: ({ reason }) => reason },
  { name: "reasonClass", kind: "text", of: ({ reasonClass }) => reasonClass },
  { name: "destinationId", kind: "text", of: ({ destinationId }) => destinationId },
  { name: "sourceId", kind: "text", of: ({ sourceId }) => sourceId },
  { name: "messageId", kind: "text", of: ({ messageId }) => messageId },
  { name: "type", kind: "text", of: ({ type }) => type },
  { name: "event", kind: "text", of: ({ event }) => event },
  { name: "userKey", kind: "text", of: ({ userKey }) => userKey },
  { name: "receivedAt", kind: "time", of: ({ receivedAtMs }) => receivedAtMs },
  { name: "firstAttemptAt", kind: "time", of: ({ firstAttemptAtMs }) => firstAttemptAtMs },
  { name: "windowStart", kind: "time", of: ({ windowStartMs }) => windowStartMs },
  { name: "attempts", kind: "count", of: ({ attempts }) => attempts },
  { name: "deferrals", kind: "count", of: ({ deferrals }) => deferrals },
  { name: "errors", kind: "text", of: (_, { facts }) => facts.errors.join(",") },
  { name: "lastAttempt", kind: "json", of: ({ lastAttempt }) => JSON.stringify(lastAttempt) },
  { name: "history", kind: "json", of: ({ history }) => JSON.stringify(history) },
  { name: "originTopic", kind: "text", of: ({ originTopic }) => originTopic },
  { name: "originPartition", kind: "count", of: ({ originPartition }) => originPartition },
  { name: "originOffset", kind: "count", of: ({ originOffset }) => originOffset },
  { name: "replayId", kind: "text", of: ({ replayId }) => replayId },
  { name: "replays", kind: "count", of: ({ replays }) => replays },
  { name: "replayedFrom", kind: "text", of: ({ replayedFrom }) => replayedFrom },
  { name: "body", kind: "json", of: ({ body }) => (body.length === 0 ? null : Buffer.from(body).toString()) },
  { name: "rest", kind: "json", of: ({ restJson }) => restJson },
];
