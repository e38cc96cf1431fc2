/** Values as a person at a terminal reads them: times by their distance, states in colour. */

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;
const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** `2m ago`, `in 20s`, `now`; any other text as it is. */
export function distanceOf(text: string, nowMs: number): string {
  if (!ISO.test(text)) return text;
  const ms = Date.parse(text) - nowMs;
  const [unit, length] = UNITS.find(([, each]) => Math.abs(ms) >= each) ?? ["s", 1000];
  const count = Math.floor(Math.abs(ms) / length);
  if (count === 0) return "now";
  return ms < 0 ? `${count}${unit} ago` : `in ${count}${unit}`;
}

/** `10:41:30Z`, for rows that are shown as they come. */
export function clockOf(text: string): string {
  return ISO.test(text) ? `${text.slice(11, 19)}Z` : text;
}

/** `2026-11-22 10:41:30 (2m ago)`. */
export function momentWithDistance(text: string, nowMs: number): string {
  if (!ISO.test(text)) return text;
  return `${text.slice(0, 19).replace("T", " ")} UTC (${distanceOf(text, nowMs)})`;
}

const STATE_COLUMNS = new Set(["state", "outcome", "cause", "what", "enabled", "signature"]);
const [RED, GREEN, YELLOW, GREY] = ["31", "32", "33", "90"];
const COLORS: Readonly<Record<string, string>> = {
  ...colored(GREEN, ["healthy", "delivered", "delivered_elsewhere", "done", "taken", "valid", "true", "confirmed"]),
  ...colored(YELLOW, ["failing", "retryable", "retrying", "waiting_retry", "deferred", "paused", "running", "waiting"]),
  ...colored(RED, ["open", "permanent", "dead_letter", "rejected", "refused", "failed", "invalid"]),
  ...colored(GREY, ["off", "false", "cancelled", "planned"]),
};

/** The text of a state's column in its colour. */
export function colorState(text: string, column: string): string {
  const color = STATE_COLUMNS.has(column) ? COLORS[text] : undefined;
  return color === undefined ? text : `\u001b[${color}m${text}\u001b[39m`;
}

function colored(color: string, states: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(states.map((state) => [state, color]));
}
