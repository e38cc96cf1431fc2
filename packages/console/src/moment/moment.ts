/** Moments in words: to the millisecond, in the zone of the browser or in UTC, and how far from now. */

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** One for each zone: making one takes longer than a hundred uses. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** `10:42:07.113`, with the day before it where that is not today's, and the year where it is not this one. */
export function clockTime(at: Date, now: Date, zone: string): string {
  const [reported, present] = [calendarOf(at, zone), calendarOf(now, zone)];
  if (reported.day === present.day && reported.year === present.year) return reported.time;
  // A line may break before the time alone.
  return `${reported.day}${reported.year === present.year ? "" : `\u00a0${reported.year}`} ${reported.time}`;
}

/** A text of `clockTime` to the second. */
export function toTheSecond(time: string): string {
  return time.replace(/\.\d+$/, "");
}

/** `4 m 58 s ago`, `in 12 s`, `now`. `now` may be seconds old: later moments, up to `present`, are past too. */
export function distance(at: Date, now: Date, present = now): string {
  if (at > now && at <= present) return "now";
  const ms = at.getTime() - now.getTime();
  if (Math.abs(ms) < 1000) return "now";
  const words = spanOf(Math.abs(ms));
  return ms > 0 ? `in ${words}` : `${words} ago`;
}

/** `4 m ago`, `in 12 s`, `now`: in its largest unit. */
export function roughDistance(at: Date, now: Date, present = now): string {
  return distance(at, now, present).replace(/(\d+ [dhms]) \d+ [dhms]/, "$1");
}

/** A duration in its two largest units: `4 h 32 m`, `41 s`. */
export function spanOf(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const first = UNITS.findIndex(([, unitMs]) => ms >= unitMs);
  const [name, unitMs] = UNITS[first] ?? UNITS[3];
  const whole = Math.floor(ms / unitMs);
  const next = UNITS[first + 1];
  const rest = next === undefined ? 0 : Math.floor((ms - whole * unitMs) / next[1]);
  return next === undefined || rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next[0]}`;
}

/** `2026-11-22T16:04:30` as a browser's field has it, in its own zone or in UTC; empty for no moment. */
export function inZone(iso: string, isUtc: boolean): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  const offsetMs = isUtc ? 0 : at.getTimezoneOffset() * 60_000;
  return new Date(at.getTime() - offsetMs).toISOString().slice(0, 19);
}

/** The other way; empty for a text that is not typed to its end. */
export function fromZone(typed: string, isUtc: boolean): string {
  const at = new Date(isUtc ? `${typed}Z` : typed);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}

function calendarOf(at: Date, zone: string): { readonly day: string; readonly year: string; readonly time: string } {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat("en-GB", {
      ...{ timeZone: zone, year: "numeric", month: "short", day: "numeric" },
      ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 },
    });
  formats.set(zone, format);
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return {
    day: `${parts["day"]}\u00a0${parts["month"]}`,
    year: `${parts["year"]}`,
    time: `${parts["hour"]}:${parts["minute"]}:${parts["second"]}.${parts["fractionalSecond"]}`,
  };
}
