/** The `Retry-After` header: a number of seconds, or one of the three date forms that HTTP knows. */

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Sun, 06 Nov 1994 08:49:37 GMT */
const FIXDATE = /^[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
/** Sunday, 06-Nov-94 08:49:37 GMT */
const RFC850 = /^[A-Z][a-z]{5,8}, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
/** Sun Nov  6 08:49:37 1994 */
const ASCTIME = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;

const DAY_MS = 86_400_000;
/** A receiver that asks for longer means "never"; the retry window ends long before. */
const LONGEST_MS = 365 * DAY_MS;

/**
 * The moment before which the receiver is not to be called, in ms since the epoch; null when the header cannot be read,
 * or names a moment that has passed. At most a year from now.
 */
export function parseRetryAfter(header: string, nowMs: number): number | null {
  const text = header.trim();
  const momentMs = /^\d+$/.test(text) ? nowMs + Number(text) * 1000 : parseHttpDate(text, nowMs);
  if (momentMs === null || momentMs <= nowMs) return null;
  return Math.min(momentMs, nowMs + LONGEST_MS);
}

/** An HTTP date in ms since the epoch, or null. `nowMs` decides the century of the two-digit years of RFC 850. */
function parseHttpDate(text: string, nowMs: number): number | null {
  const fixdate = FIXDATE.exec(text);
  if (fixdate) {
    const [, day, month, year, hour, minute, second] = fixdate;
    return utcMs([year, month, day, hour, minute, second]);
  }
  const rfc850 = RFC850.exec(text);
  if (rfc850) {
    const [, day, month, shortYear, hour, minute, second] = rfc850;
    const century = Math.floor(yearOf(nowMs) / 100) * 100;
    const momentMs = utcMs([String(century + Number(shortYear)), month, day, hour, minute, second]);
    // A date that seems to lie more than fifty years ahead is of the century before.
    if (momentMs === null || momentMs - nowMs <= 50 * 365.25 * DAY_MS) return momentMs;
    return utcMs([String(century - 100 + Number(shortYear)), month, day, hour, minute, second]);
  }
  const asctime = ASCTIME.exec(text);
  if (asctime) {
    const [, month, day, hour, minute, second, year] = asctime;
    return utcMs([year, month, day, hour, minute, second]);
  }
  return null;
}

/** Year, name of the month, day, hour, minute and second, as the groups of a pattern give them. */
type Fields = readonly (string | undefined)[];

function utcMs([year, month, day, hour, minute, second]: Fields): number | null {
  const monthIndex = MONTHS.indexOf(month ?? "");
  const dayOfMonth = Number(day);
  // 60 is a leap second, which the epoch does not count.
  if (monthIndex < 0 || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  if (dayOfMonth < 1 || dayOfMonth > daysInMonth(Number(year), monthIndex)) return null;
  const days = daysSinceEpoch(Number(year), monthIndex + 1, dayOfMonth);
  return days * DAY_MS + (Number(hour) * 3600 + Number(minute) * 60 + Number(second)) * 1000;
}

function daysInMonth(year: number, monthIndex: number): number {
  const [nextYear, nextMonth] = monthIndex === 11 ? [year + 1, 1] : [year, monthIndex + 2];
  return daysSinceEpoch(nextYear, nextMonth, 1) - daysSinceEpoch(year, monthIndex + 1, 1);
}

/** Days from 1970-01-01 in the Gregorian calendar; years begin in March here, so that the leap day comes last. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return (
    365 * shifted +
    Math.floor(shifted / 4) -
    Math.floor(shifted / 100) +
    Math.floor(shifted / 400) +
    dayOfYear -
    DAYS_FROM_MARCH_0_TO_EPOCH
  );
}

/** Days from 1 March of the year 0 to 1 January 1970. */
const DAYS_FROM_MARCH_0_TO_EPOCH = 719_468;

function yearOf(momentMs: number): number {
  return 1970 + Math.floor(momentMs / (365.2425 * DAY_MS));
}
