/** Moments in queries. */
import { z } from "zod";

const EXPECTED = "expected a moment such as 2026-11-21T10:00:00Z";

/** ISO 8601 with a zone, as ms since the epoch. */
const moment = z.iso.datetime({ offset: true, message: EXPECTED }).transform((text) => Date.parse(text));

/** The part of a list that lies within a time. */
export const timeRange = {
  since: moment.optional().describe("Not before this moment, ISO 8601."),
  until: moment.optional().describe("Before this moment, ISO 8601."),
};

/** A moment in ms since the epoch as answers say it. */
export function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** As `isoTime`; null where there is no moment. */
export function isoTimeOrNull(atMs: number | null): string | null {
  return atMs === null ? null : isoTime(atMs);
}

/** Milliseconds rounded to tenths, for a person to read. */
export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
