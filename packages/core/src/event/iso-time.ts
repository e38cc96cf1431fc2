/** Moments as text: `YYYY-MM-DDTHH:mm:ss.sssZ`, the form of every time that leaves the system. */

const DAY_MS = 86_400_000;
/** Days from 1 March of the year 0 to 1 January 1970. */
const MARCH_0_TO_EPOCH_DAYS = 719_468;
/** Days in 400 years of the Gregorian calendar, after which it repeats. */
const ERA_DAYS = 146_097;

/** The moments that four digits of a year can say: 0000-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z. */
export const MIN_ISO_TIME_MS = -62_167_219_200_000;
export const MAX_ISO_TIME_MS = 253_402_300_799_999;

/** Ms since the epoch as UTC; a moment outside the four-digit years is moved to the nearest that is inside. */
export function toIsoTime(momentMs: number): string {
  const ms = Math.min(Math.max(Math.trunc(momentMs), MIN_ISO_TIME_MS), MAX_ISO_TIME_MS);
  const day = Math.floor(ms / DAY_MS);
  const timeMs = ms - day * DAY_MS;
  return `${isoDate(day)}T${two(Math.floor(timeMs / 3_600_000))}:${two(Math.floor(timeMs / 60_000) % 60)}:${two(
    Math.floor(timeMs / 1000) % 60,
  )}.${three(timeMs % 1000)}Z`;
}

/** Days since the epoch as a date. Years begin in March here, so that the leap day comes last. */
function isoDate(epochDay: number): string {
  const day = epochDay + MARCH_0_TO_EPOCH_DAYS;
  const era = Math.floor(day / ERA_DAYS);
  const dayOfEra = day - era * ERA_DAYS;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const dayOfMonth = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(dayOfMonth)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

function three(value: number): string {
  return value < 100 ? `0${two(value)}` : String(value);
}
