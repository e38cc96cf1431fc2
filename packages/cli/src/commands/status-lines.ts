/** The status as lines for a person: destinations that need attention first. */
import { counted } from "../counted.ts";
import type { Entry } from "../entries.ts";

const MARKS: Readonly<Record<string, string>> = { open: "■", failing: "▲", healthy: "●", off: "◌" };
const NAME_WIDTH = 16;

export function statusLines(status: Entry, nowMs: number): readonly string[] {
  const { destinations, needsSomebody, answeringAgain, services, replays, schedule } = status;
  const counts = entryOf(destinations);
  const { needing, again } = attentionOf(status);
  const { router, delivery } = entryOf(status.lag);
  const summary = [
    needing === 0 ? "nothing needs you" : `▲ ${needing} need${needing === 1 ? "s" : ""} you`,
    ...(again === 0 ? [] : [`● ${again} deliver${again === 1 ? "s" : ""} again`]),
    `● ${counts.healthy} healthy`,
    `◌ ${counts.off} off`,
    `received ${rate(status.receivedPerSecond)}`,
    `delivered ${rate(status.deliveredPerSecond)}`,
    `p99 ${typeof status.p99Ms === "number" ? `${Math.round(status.p99Ms)} ms` : "-"}`,
    `waiting ${grouped(entryOf(status.waiting).total)}`,
    ...(Number(router) + Number(delivery) > 0 ? [`behind ${grouped(Number(router) + Number(delivery))}`] : []),
  ];
  const reported = listOf(needsSomebody);
  return [
    summary.join("   "),
    ...listOf(services)
      .filter(({ ready }) => ready !== true)
      .map(({ name, missing }) => `✗ ${name} is not ready: ${missing}`),
    ...reported.map((each) => healthLine(each, nowMs)),
    ...(needing > reported.length ? [`  and ${needing - reported.length} more: posthaste destinations health`] : []),
    ...listOf(answeringAgain).flatMap(againLines),
    ...listOf(replays).map(
      ({ id, state, matched, replayed }) =>
        `↻ replay ${id} is ${state}: ${grouped(replayed)} of ${grouped(matched)} sent again`,
    ),
    ...(entryOf(schedule).differ === true ? ["! delivery processes run with settings that differ"] : []),
  ];
}

/** How many destinations need somebody, and how many of those that fail deliver again. */
export function attentionOf(status: Entry): { readonly needing: number; readonly again: number } {
  const { open, failing } = entryOf(status.destinations);
  const failed = Number(open) + Number(failing);
  // Control of an earlier release does not say.
  const needing = typeof status.needing === "number" ? status.needing : failed;
  return { needing, again: failed - needing };
}

/** A destination that was mended, and the command that sends its dead letters again. */
function againLines({ destinationId, name, since, deadLetters }: Entry): readonly string[] {
  const again = `delivers again${typeof since === "string" ? ` since ${since}` : ""}`;
  return [
    `${MARKS.healthy} ${String(name).padEnd(NAME_WIDTH)}  ${again}  ${counted(Number(deadLetters), "dead letter")} can be sent again`,
    `  posthaste dead-letters replay --destination-id ${destinationId}`,
  ];
}

/** One destination that needs attention: the reason, since when, and the next step. */
function healthLine(health: Entry, nowMs: number): string {
  const { state, name, since, waiting, deadLetters, deliversAgainSince } = health;
  const sinceMs = typeof since === "string" && typeof deliversAgainSince !== "string" ? Date.parse(since) : null;
  const parts = [
    `${MARKS[String(state)] ?? "?"} ${String(name).padEnd(NAME_WIDTH)}`,
    `${state === "open" ? "breaker open, " : ""}${reasonWords(health)}`,
    sinceMs === null ? "" : `since ${String(since)} (${durationWords(nowMs - sinceMs)})`,
    nextWords(health, nowMs),
    waiting === null ? "" : `waiting ${grouped(entryOf(waiting).total)}`,
    deadLetters === null ? "" : `dead ${grouped(deadLetters)}`,
  ];
  return parts.filter((part) => part !== "").join("  ");
}

/** `503 from https://…`, or since when it delivers again. */
export function reasonWords({ reason, deliversAgainSince, success }: Entry): string {
  if (typeof deliversAgainSince === "string") {
    const failed = typeof success === "number" ? `${percent(1 - success)} of 5 m failed, ` : "";
    return `${failed}delivers again since ${deliversAgainSince}`;
  }
  if (typeof reason !== "object" || reason === null) return "attempts fail";
  const { status, error, url } = entryOf(reason);
  return `${error ?? status} from ${url}`;
}

function nextWords({ nextProbe, nextRetry }: Entry, nowMs: number): string {
  if (typeof nextProbe === "string") {
    const inMs = Date.parse(nextProbe) - nowMs;
    return inMs > 0 ? `probe in ${durationWords(inMs)}` : "probe with the next delivery";
  }
  return typeof nextRetry === "string" ? `next try ${nextRetry}` : "";
}

/** `4 h 32 m`: the two largest units. */
export function durationWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units = [
    ["d", 86_400],
    ["h", 3600],
    ["m", 60],
    ["s", 1],
  ] as const;
  const parts = units.map(([unit, length], index) => {
    const above = units[index - 1]?.[1] ?? Number.POSITIVE_INFINITY;
    return [unit, Math.floor((seconds % above) / length)] as const;
  });
  const first = parts.findIndex(([, count]) => count > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => `${count} ${unit}`)
    .join(" ");
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}

function rate(perSecond: unknown): string {
  if (typeof perSecond !== "number") return "-";
  return `${perSecond < 10 ? perSecond : grouped(Math.round(perSecond))}/s`;
}

function grouped(count: unknown): string {
  return typeof count === "number" ? count.toLocaleString("en-US") : "-";
}

function entryOf(value: unknown): Entry {
  return typeof value === "object" && value !== null ? (value as Entry) : {};
}

function listOf(value: unknown): readonly Entry[] {
  return Array.isArray(value) ? value : [];
}
