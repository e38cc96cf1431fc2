/**
 * Callers' timestamps in every form that clients were seen to send, as ms since the epoch, and the correction of their
 * clocks.
 *
 * They are read by arithmetic and not by the platform's date parser, which takes a text without an offset as local time
 * and guesses at forms that it does not know.
 */

import { MAX_ISO_TIME_MS, MIN_ISO_TIME_MS } from "../event/iso-time.ts";

/** Longer than any form below. A longer text is refused unread. */
const MAX_LENGTH = 64;

/**
 * Date, then optionally a time of day with a fraction of any length and an offset: `Z`, `+01:00`, `+0100`, `+01` or
 * none.
 */
const FORM = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d\d):?(\d\d)?)?)?$/;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Ms since the epoch from ISO 8601 text, or null when it is no such moment. A fraction is cut (not rounded) to
 * milliseconds; a text without an offset is UTC; a date alone is its first moment.
 */
export function parseTimestamp(text: string): number | null {
  if (text.length > MAX_LENGTH) return null;
  const match = FORM.exec(text);
  if (match === null) return null;
  const [, yearText, monthText, dayText, hourText, minuteText, secondText, fraction, sign, offsetHours, offsetMinutes] =
    match;
  const year = Number(yearText);
  const month = Number(monthText);
  const day = Number(dayText);
  const hour = Number(hourText ?? 0);
  const minute = Number(minuteText ?? 0);
  const second = Number(secondText ?? 0);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const offset = offsetMs(sign, offsetHours, offsetMinutes);
  if (offset === null) return null;
  const timeMs = hour * HOUR_MS + minute * MINUTE_MS + second * 1000 + fractionMs(fraction);
  const ms = daysSinceEpoch(year, month, day) * DAY_MS + timeMs - offset;
  return isWritable(ms) ? ms : null;
}

export interface CallTimes {
  /** The caller's own time of the call, or null when it gave none. */
  readonly originalMs: number | null;
  /** The caller's clock when it sent the request, or null when it did not say. */
  readonly sentAtMs: number | null;
  /** Our clock when the request came. */
  readonly receivedAtMs: number;
}

/**
 * When the call happened by ingest's clock: `correctTimestamp` takes the error that the caller's clock had at `sentAt`
 * from the caller's time. Without `sentAt` the caller's time stands as it is; without a time of the caller the moment
 * of receipt does. A `sentAt` over a day before the caller's time was not told by the same clock, and corrects nothing.
 */
export function correctTimestamp({ originalMs, sentAtMs, receivedAtMs }: CallTimes): number {
  if (originalMs === null) return receivedAtMs;
  if (sentAtMs === null || originalMs - sentAtMs > DAY_MS) return originalMs;
  const correctedMs = receivedAtMs - (sentAtMs - originalMs);
  return isWritable(correctedMs) ? correctedMs : originalMs;
}

function isWritable(ms: number): boolean {
  return ms >= MIN_ISO_TIME_MS && ms <= MAX_ISO_TIME_MS;
}

function offsetMs(sign: string | undefined, hours: string | undefined, minutes: string | undefined): number | null {
  if (sign === undefined) return 0;
  const hour = Number(hours);
  const minute = Number(minutes ?? 0);
  if (hour > 23 || minute > 59) return null;
  const ms = hour * HOUR_MS + minute * MINUTE_MS;
  return sign === "-" ? -ms : ms;
}

function fractionMs(fraction: string | undefined): number {
  if (fraction === undefined) return 0;
  return Number(fraction.slice(0, 3).padEnd(3, "0"));
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

const DAYS_PER_400_YEARS = 146_097;
/** Days from 1 March of year 0 to 1 January 1970. */
const EPOCH_DAY = 719_468;

/**
 * Days since 1970-01-01 in the proleptic Gregorian calendar; years begin in March here, so that a leap day comes last.
 */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_PER_400_YEARS + dayOfEra - EPOCH_DAY;
}
