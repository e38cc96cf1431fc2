/**
 * The news of a destination for the people who look after it: decided from the health that control judges anyway, and
 * from the state that was reported before.
 *
 * OE1  A state is reported once, and when it has lasted: *failing* for a minute, *stopped* (a breaker stays open) for
 *      ten, *recovered* when no attempt failed for a minute. In between no state is sure, and nothing is reported.
 * OE2  After a report on a destination's state the next one comes five minutes later at the earliest, with the state
 *      of then. A destination that recovers and fails again in between is not reported.
 * OE3  Dead letters are reported when more of them are open than were reported, once an hour at the most. Fewer are
 *      noted and not reported.
 * OE4  A destination that is switched off is noted and not reported: somebody did that.
 * OE5  A topic with old records is reported when that begins, and once a day while it lasts. Its end is noted.
 */

import type { JudgedHealth } from "@posthaste/core/health/health-state";
import type { OldRecords } from "./old-records.ts";

export const FAILING_MS = 60_000;
export const STOPPED_MS = 10 * 60_000;
export const SURE_MS = 60_000;
export const QUIET_MS = 5 * 60_000;
export const DEAD_LETTERS_MS = 60 * 60_000;
export const OLD_RECORDS_MS = 24 * 60 * 60_000;

export interface SeenDestination {
  readonly id: string;
  readonly name: string;
  readonly judged: JudgedHealth;
  /** Null where it is not known, or was not asked for. */
  readonly openDeadLetters: number | null;
}

/** The state that was reported last. */
export const REPORTED_STATES = ["well", "failing", "stopped"] as const;
export type ReportedState = (typeof REPORTED_STATES)[number];

/** The last report on a destination; it outlives the process that made it. */
export interface Reported {
  /** How many events were made of the destination: the next one's number. */
  readonly count: number;
  readonly state: ReportedState;
  /** Since when the destination failed, as it was reported; null for one that is well. */
  readonly failingSinceMs: number | null;
  /** When its state was reported last, in ms since the epoch. */
  readonly stateAtMs: number;
  readonly openDeadLetters: number;
  /** When dead letters were reported last, in ms since the epoch. */
  readonly deadLettersAtMs: number;
}

export const NOTHING_REPORTED: Reported = {
  ...{ count: 0, state: "well", failingSinceMs: null, stateAtMs: 0, openDeadLetters: 0, deadLettersAtMs: 0 },
};

/** The name and the properties of an operational event. */
export interface News {
  readonly event: `destination.${"failing" | "stopped" | "recovered" | "dead_letters"}` | "events.near_retention";
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Returns the news, and the report that counts from then on: the same object where nothing changed. */
export function newsOf(
  seen: SeenDestination,
  reported: Reported,
  nowMs: number,
): { readonly reported: Reported; readonly news: readonly News[] } {
  const ofState = stateNews(seen, reported, nowMs);
  const ofDeadLetters = deadLetterNews(seen, ofState.reported, nowMs);
  const news = [...ofState.news, ...ofDeadLetters.news];
  return { reported: count(ofDeadLetters.reported, news.length), news };
}

interface Part {
  readonly reported: Reported;
  readonly news: readonly News[];
}

function stateNews(seen: SeenDestination, reported: Reported, nowMs: number): Part {
  const { judged } = seen;
  const state = sureState(judged, nowMs);
  const isNew = state !== null && state !== reported.state && !(state === "failing" && reported.state === "stopped");
  if (!isNew) return { reported, news: [] };
  // OE4.
  if (judged.state === "off") return { reported: { ...reported, state, failingSinceMs: null }, news: [] };
  if (hasJustBeen(reported.stateAtMs, nowMs, QUIET_MS)) return { reported, news: [] };
  const failingSinceMs = state === "well" ? null : (judged.sinceMs ?? nowMs);
  const next = { ...reported, state, failingSinceMs, stateAtMs: nowMs };
  return { reported: next, news: [state === "well" ? recovered(seen, reported) : failing(seen, state)] };
}

/** OE1; null where it is not sure. */
function sureState({ state, sinceMs, deliversAgainSinceMs }: JudgedHealth, nowMs: number): ReportedState | null {
  if (state === "healthy" || state === "off") return "well";
  if (deliversAgainSinceMs !== null) return nowMs - deliversAgainSinceMs >= SURE_MS ? "well" : null;
  const lastedMs = nowMs - (sinceMs ?? nowMs);
  if (state === "open" && lastedMs >= STOPPED_MS) return "stopped";
  return lastedMs >= FAILING_MS ? "failing" : null;
}

function failing({ id, name, judged }: SeenDestination, state: ReportedState): News {
  const { reason, sinceMs, nextProbeMs } = judged;
  const { url = null, status = null, error = null } = reason ?? {};
  return {
    event: state === "stopped" ? "destination.stopped" : "destination.failing",
    properties: {
      ...{ destinationId: id, name, since: isoTime(sinceMs) },
      // A path may be a secret.
      ...{ origin: url === null ? null : (URL.parse(url)?.origin ?? null), status, error },
      ...(state === "stopped" ? { nextProbe: isoTime(nextProbeMs) } : {}),
    },
  };
}

function recovered({ id, name, openDeadLetters }: SeenDestination, { failingSinceMs }: Reported): News {
  return {
    event: "destination.recovered",
    properties: { destinationId: id, name, failingSince: isoTime(failingSinceMs), openDeadLetters },
  };
}

/** OE3. */
function deadLetterNews({ id, name, openDeadLetters: open }: SeenDestination, reported: Reported, nowMs: number): Part {
  if (open === null || open === reported.openDeadLetters) return { reported, news: [] };
  if (open < reported.openDeadLetters) return { reported: { ...reported, openDeadLetters: open }, news: [] };
  if (hasJustBeen(reported.deadLettersAtMs, nowMs, DEAD_LETTERS_MS)) return { reported, news: [] };
  const properties = { destinationId: id, name, openDeadLetters: open, more: open - reported.openDeadLetters };
  return {
    reported: { ...reported, openDeadLetters: open, deadLettersAtMs: nowMs },
    news: [{ event: "destination.dead_letters", properties }],
  };
}

/** The last report on a topic. */
export interface ReportedTopic {
  /** How many events were made of the topic: the next one's number. */
  readonly count: number;
  /** When old records were reported last, in ms since the epoch; null while there are none. */
  readonly atMs: number | null;
}

/** OE5. `old`: null where the topic has no old records. Returns the same report where nothing changed. */
export function topicNewsOf(
  old: OldRecords | null,
  reported: ReportedTopic,
  nowMs: number,
): { readonly reported: ReportedTopic; readonly news: readonly News[] } {
  if (old === null) return { reported: reported.atMs === null ? reported : { ...reported, atMs: null }, news: [] };
  if (reported.atMs !== null && hasJustBeen(reported.atMs, nowMs, OLD_RECORDS_MS)) return { reported, news: [] };
  const news: News = { event: "events.near_retention", properties: { ...old } };
  return { reported: { count: reported.count + 1, atMs: nowMs }, news: [news] };
}

/** A moment in the future, as after a step of the clock, keeps nobody quiet. */
function hasJustBeen(atMs: number, nowMs: number, forMs: number): boolean {
  return atMs <= nowMs && nowMs - atMs < forMs;
}

function count(reported: Reported, news: number): Reported {
  return news === 0 ? reported : { ...reported, count: reported.count + news };
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
