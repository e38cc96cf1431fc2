/** Moments in words: to the millisecond, in the zone of the browser or in UTC, and how far from now. */

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** `10:42:07.113`, with the day before it where that is not today's. */
export function clockTime(at: Date, now: Date, zone: string): string {
  const time = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
  }).format(at);
  const day = dayOf(at, zone);
  return day === dayOf(now, zone) ? time : `${day} ${time}`;
}

/** `4 m 58 s ago`, `in 12 s`, `now`. */
export function distance(at: Date, now: Date): string {
  const ms = at.getTime() - now.getTime();
  if (Math.abs(ms) < 1000) return "now";
  const words = spanOf(Math.abs(ms));
  return ms > 0 ? `in ${words}` : `${words} ago`;
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

function dayOf(at: Date, zone: string): string {
  return new Intl.DateTimeFormat("en-GB", { timeZone: zone, day: "numeric", month: "short", year: "numeric" }).format(
    at,
  );
}
