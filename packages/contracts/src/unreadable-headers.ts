/**
 * The headers of a record of `posthaste.unreadable`: where it stood and why nobody could read it. They stand beside the
 * record's own, whose key, value and headers are as they were.
 */
import { headerText, type IncomingHeaders, parseWhole } from "./headers.ts";

/**
 * `not_framed`: no schema id; `unknown_schema`: the registry has none of that id; `not_of_schema`: of another, or no
 * value of it.
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
  /** One sentence. */
  readonly error: string;
  readonly atMs: number;
  /** The service that could not read it. */
  readonly by: string;
  /** The record is too large to stand in another topic with these headers: its value is in its own topic alone. */
  readonly isValueLeftOut: boolean;
}

export function encodeUnreadable(unreadable: Unreadable): Record<string, string> {
  const { topic, partition, offset, reason, error, atMs, by, isValueLeftOut } = unreadable;
  return {
    ...{ [TOPIC]: topic, [PARTITION]: String(partition), [OFFSET]: String(offset), [REASON]: reason, [ERROR]: error },
    ...{ [AT]: String(Math.round(atMs)), [BY]: by, ...(isValueLeftOut ? { [CUT]: "true" } : {}) },
  };
}

/** Null for the headers of anything else. */
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
    isValueLeftOut: headerText(headers, CUT) === "true",
  };
}

/** The headers that the record had in its own topic. */
export function ownHeaders(headers: IncomingHeaders): IncomingHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OURS.has(name)));
}
