/**
 * The history of a delivery: its attempts that failed, each with the answers of its URLs.
 *
 * The history is a text that rides in a record header from retry to retry, so that a deferral passes it on unread. The
 * text is a JSON object `{"u": [url, …], "a": [[attempt, startedAtMs, replayId, [[index of the URL, status, error, ms],
 * …]], …]}`, which names each URL once.
 *
 * AH1  It holds the first `KEPT_FIRST` attempts and the last `KEPT_LAST`. A text that cannot be read counts as no
 *      history: the delivery goes on, and its history begins again.
 * AH2  Each replay counts its attempts from 1 again. Attempts of earlier replays stay, with the replay's id.
 */
import type { DeadUrl, PastAttempt } from "./dead-letter.ts";
import type { DeliveryProgress } from "./delivery.ts";

const KEPT_FIRST = 3;
const KEPT_LAST = 12;

/** The progress with one more attempt in its history; `attempts` is left as it was. */
export function addAttempt(
  progress: DeliveryProgress,
  { startedAtMs, urls }: Pick<PastAttempt, "startedAtMs" | "urls">,
): DeliveryProgress {
  const made = { attempt: progress.attempts + 1, replayId: progress.replay?.id ?? null, startedAtMs, urls };
  return { ...progress, history: encodeHistory([...decodeHistory(progress.history), made]) };
}

/** Null for no attempts. Of many attempts only the first and the last are written (AH1). */
export function encodeHistory(attempts: readonly PastAttempt[]): string | null {
  if (attempts.length === 0) return null;
  const kept =
    attempts.length <= KEPT_FIRST + KEPT_LAST
      ? attempts
      : [...attempts.slice(0, KEPT_FIRST), ...attempts.slice(-KEPT_LAST)];
  const urls = [...new Set(kept.flatMap((each) => each.urls.map(({ url }) => url)))];
  const rows = kept.map(({ attempt, startedAtMs, replayId, urls: called }) => [
    attempt,
    Math.round(startedAtMs),
    replayId,
    called.map(({ url, status, error, durationMs }) => [urls.indexOf(url), status, error, tenths(durationMs)]),
  ]);
  return JSON.stringify({ u: urls, a: rows });
}

/** Reads the text of `encodeHistory`, oldest first; nothing for null and for any other text (AH1). */
export function decodeHistory(text: string | null): readonly PastAttempt[] {
  if (text === null) return NOTHING;
  try {
    return readHistory(JSON.parse(text)) ?? NOTHING;
  } catch {
    return NOTHING;
  }
}

const NOTHING: readonly PastAttempt[] = [];

function readHistory(parsed: unknown): readonly PastAttempt[] | null {
  if (typeof parsed !== "object" || parsed === null || !("u" in parsed) || !("a" in parsed)) return null;
  const { u: urls, a: rows } = parsed;
  if (!Array.isArray(urls) || !urls.every(isText) || !Array.isArray(rows)) return null;
  const attempts = rows.slice(0, KEPT_FIRST + KEPT_LAST).map((row) => readAttempt(row, urls));
  return attempts.every((attempt) => attempt !== null) ? attempts : null;
}

function readAttempt(row: unknown, urls: readonly string[]): PastAttempt | null {
  if (!Array.isArray(row)) return null;
  const [attempt, startedAtMs, replayId, called] = row as readonly unknown[];
  if (!isWhole(attempt) || !isWhole(startedAtMs) || !isTextOrNull(replayId) || !Array.isArray(called)) return null;
  const answers = called.map((each) => readAnswer(each, urls));
  if (!answers.every((answer) => answer !== null)) return null;
  return { attempt, replayId, startedAtMs, urls: answers };
}

function readAnswer(row: unknown, urls: readonly string[]): DeadUrl | null {
  if (!Array.isArray(row)) return null;
  const [index, status, error, durationMs] = row as readonly unknown[];
  const url = isWhole(index) ? urls[index] : undefined;
  if (url === undefined || !(status === null || isWhole(status)) || !isTextOrNull(error)) return null;
  return typeof durationMs === "number" ? { url, status, error, durationMs } : null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** Ms rounded to tenths. */
function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
