/**
 * The headers of a record of `posthaste.unreadable`: where the record stood, and why nobody could read it. They are
 * added to the record's own headers; its key and value are unchanged. When the record is too large for that, these
 * headers are all that is quarantined.
 */
import { headerText, type IncomingHeaders, parseWhole } from "./headers.ts";

/**
 * `not_framed`: the value names no schema id. `unknown_schema`: the registry does not have that id. `not_of_schema`:
 * the value is of another schema, or no value of its own.
 */
export const UNREADABLE_REASONS = ["not_framed", "unknown_schema", "not_of_schema"] as const;
export type UnreadableReason = (typeof UNREADABLE_REASONS)[number];

const TOPIC = "unreadable-topic";
const PARTITION = "unreadable-partition";
const OFFSET = "unreadable-offset";
const REASON = "unreadable-reason";
const ERROR = "unreadable-error";
const AT = "unreadable-at-ms";
const BY = "unreadable-by";
const CUT = "unreadable-value-left-out";
const OURS: ReadonlySet<string> = new Set([TOPIC, PARTITION, OFFSET, REASON, ERROR, AT, BY, CUT]);

export interface UnreadablePlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export interface Unreadable extends UnreadablePlace {
  readonly reason: UnreadableReason;
  /** Why the record could not be read, in one sentence. */
  readonly error: string;
  readonly atMs: number;
  /** The service that could not read it. */
  readonly by: string;
  /**
   * True when the record with these headers was too large for this topic. Its key, value and own headers are then only
   * in its own topic.
   */
  readonly isValueOmitted: boolean;
}

export function encodeUnreadable(unreadable: Unreadable): Record<string, string> {
  const { topic, partition, offset, reason, error, atMs, by, isValueOmitted } = unreadable;
  return {
    ...{ [TOPIC]: topic, [PARTITION]: String(partition), [OFFSET]: String(offset), [REASON]: reason, [ERROR]: error },
    ...{ [AT]: String(Math.round(atMs)), [BY]: by, ...(isValueOmitted ? { [CUT]: "true" } : {}) },
  };
}

/** Reads the headers of an unreadable record; null for the headers of any other record. */
export function decodeUnreadable(headers: IncomingHeaders): Unreadable | null {
  const topic = headerText(headers, TOPIC);
  const partition = parseWhole(headerText(headers, PARTITION));
  const offset = parseWhole(headerText(headers, OFFSET));
  const reason = UNREADABLE_REASONS.find((each) => each === headerText(headers, REASON));
  if (topic === undefined || partition === null || offset === null || reason === undefined) return null;
  return {
    ...{ topic, partition, offset, reason },
    error: headerText(headers, ERROR) ?? "",
    atMs: parseWhole(headerText(headers, AT)) ?? 0,
    by: headerText(headers, BY) ?? "",
    isValueOmitted: headerText(headers, CUT) === "true",
  };
}

/** The headers that the record had in its own topic. */
export function ownHeaders(headers: IncomingHeaders): IncomingHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OURS.has(name)));
}
