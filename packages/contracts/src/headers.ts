/** Record headers: the fields that a reader needs without decoding the value. All are strings on the wire. */
import { type DeliveryProgress, NO_PROGRESS, type Replay } from "@posthaste/core/delivery/delivery";

/** In config records: the writer's revision. Tombstones have it too, since they have no value to carry it (P5). */
export const REVISION_HEADER = "revision";

/**
 * In config records: the revision of the value that the writer changed; 0 where there was none (S4 of control's
 * config-store.ts). Absent in records of earlier releases.
 */
export const PREVIOUS_REVISION_HEADER = "previous-revision";

/**
 * In retry records: the place of the record that was republished: its topic's id (or name, where the topic has no id),
 * partition and offset. A crash between a republish and its commit leaves two copies, which this header identifies
 * (W6).
 */
export const REPUBLISHED_FROM_HEADER = "republished-from";

/**
 * In retry records: when the record was republished, in ms since the epoch by the writer's clock, since the broker's
 * clock may be behind (W1).
 */
export const REPUBLISHED_AT_HEADER = "republished-at-ms";

const ATTEMPTS = "attempts";
const DEFERRALS = "deferrals";
const WINDOW_START = "window-start-ms";
const DEADLINE = "deadline-ms";
const NOT_BEFORE = "not-before-ms";
const URLS = "urls";
const URLS_NOT_BEFORE = "urls-not-before-ms";
const HISTORY = "history";
const REPLAY_ID = "replay-id";
const REPLAYS = "replays";
const REPLAYED_FROM = "replayed-from";

/** Headers as kafkajs returns them: a value may be absent or repeated. */
export type IncomingHeaders = Readonly<Record<string, Buffer | string | readonly (Buffer | string)[] | undefined>>;

/** The text of a header, or of its last value where it is repeated; undefined when it is absent. */
export function headerText(headers: IncomingHeaders | undefined, name: string): string | undefined {
  const value = headers?.[name];
  const last = Array.isArray(value) ? value.at(-1) : value;
  return last === undefined ? undefined : last.toString();
}

/** The revisions in a config record's headers; `base` is null in records of earlier releases. */
export function revisionsOf(headers: IncomingHeaders): { readonly revision: number; readonly base: number | null } {
  const [revision, base] = [REVISION_HEADER, PREVIOUS_REVISION_HEADER].map((name) =>
    parseWhole(headerText(headers, name)),
  );
  return { revision: revision ?? 0, base: base ?? null };
}

/** When a retry record was republished; null when the header is absent or unreadable. */
export function republishedAtMs(headers: IncomingHeaders): number | null {
  return parseWhole(headerText(headers, REPUBLISHED_AT_HEADER));
}

/** The headers of a record in a retry topic (W2). Fields with their default value are left out. */
export function encodeProgress(progress: DeliveryProgress): Record<string, string> {
  const headers: Record<string, string> = {};
  if (progress.attempts > 0) headers[ATTEMPTS] = String(progress.attempts);
  if (progress.deferrals > 0) headers[DEFERRALS] = String(progress.deferrals);
  if (progress.windowStartMs !== null) headers[WINDOW_START] = String(progress.windowStartMs);
  if (progress.deadlineMs !== null) headers[DEADLINE] = String(progress.deadlineMs);
  if (progress.notBeforeMs !== null) headers[NOT_BEFORE] = String(progress.notBeforeMs);
  if (progress.urls !== null) headers[URLS] = JSON.stringify(progress.urls);
  if (progress.urlsNotBeforeMs !== null) headers[URLS_NOT_BEFORE] = JSON.stringify(progress.urlsNotBeforeMs);
  if (progress.history !== null) headers[HISTORY] = progress.history;
  return progress.replay === null ? headers : Object.assign(headers, encodeReplay(progress.replay));
}

/** The headers that name the replay of a record. */
export function encodeReplay({ id, count, from }: Replay): Record<string, string> {
  const headers: Record<string, string> = { [REPLAY_ID]: id, [REPLAYS]: String(count) };
  if (from !== null) headers[REPLAYED_FROM] = from;
  return headers;
}

/**
 * Reads the headers of `encodeProgress`. An unreadable header counts as absent: the delivery is then tried, and never
 * lost.
 */
export function decodeProgress(headers: IncomingHeaders | undefined): DeliveryProgress {
  if (headers === undefined) return NO_PROGRESS;
  return {
    attempts: parseWhole(headerText(headers, ATTEMPTS)) ?? 0,
    deferrals: parseWhole(headerText(headers, DEFERRALS)) ?? 0,
    windowStartMs: parseWhole(headerText(headers, WINDOW_START)),
    deadlineMs: parseWhole(headerText(headers, DEADLINE)),
    notBeforeMs: parseWhole(headerText(headers, NOT_BEFORE)),
    urls: urlList(headerText(headers, URLS)),
    urlsNotBeforeMs: momentsByUrl(headerText(headers, URLS_NOT_BEFORE)),
    history: headerText(headers, HISTORY) ?? null,
    replay: readReplay(headers),
  };
}

/** A resend has the header of the replay id and none of the others. */
function readReplay(headers: IncomingHeaders): Replay | null {
  const id = headerText(headers, REPLAY_ID);
  if (id === undefined || id === "") return null;
  return {
    id,
    count: parseWhole(headerText(headers, REPLAYS)) ?? 1,
    from: headerText(headers, REPLAYED_FROM) ?? null,
  };
}

/** A whole number in decimal; null for any other text. */
export function parseWhole(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,16}$/.test(text)) return null;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : null;
}

function urlList(text: string | undefined): readonly string[] | null {
  const value = parsed(text);
  return Array.isArray(value) && value.every((url) => typeof url === "string") ? value : null;
}

function momentsByUrl(text: string | undefined): Readonly<Record<string, number>> | null {
  const value = parsed(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const moments = Object.entries(value).filter(([, moment]) => Number.isSafeInteger(moment));
  return moments.length === 0 ? null : Object.fromEntries(moments);
}

function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
