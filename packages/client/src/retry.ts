/**
 * The meaning of an answer and the time of the next try. Pure: the clock's reading and the random number are arguments.
 */
import { AnalyticsError } from "./errors.ts";

export const FIRST_RETRY_DELAY_MS = 100;
export const MAX_RETRY_DELAY_MS = 30_000;
/** A server that asks for more is asked again after this. */
export const MAX_RETRY_AFTER_MS = 300_000;

/** A complete answer. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
}

/** The result of one request: an answer, or the reason why there was none. */
export type Attempt = { readonly answer: Answer } | { readonly failure: unknown };

/** A call that the server did not take although it took the batch. */
export interface RejectedCall {
  readonly index: number;
  readonly error: AnalyticsError;
}

export type Verdict =
  | { readonly kind: "delivered"; readonly rejected: readonly RejectedCall[] }
  /** `holdMs` is how long the server wants to hear nothing, from any batch; 0 when it did not say. */
  | { readonly kind: "retry"; readonly delayMs: number; readonly holdMs: number; readonly reason: string }
  | { readonly kind: "failed"; readonly error: AnalyticsError };

export interface AttemptCount {
  /** Requests made for this batch, this one included. */
  readonly attempts: number;
  readonly maxAttempts: number;
}

/**
 * 2xx: delivered, but for the calls that the body lists as rejected. 5xx, 408, 425, 429 and no answer: again later,
 * while attempts are left. Anything else would be answered the same the next time: failed.
 */
export function judge(attempt: Attempt, count: AttemptCount, nowMs: number, random: number): Verdict {
  const { attempts, maxAttempts } = count;
  if ("answer" in attempt) {
    const { status, body } = attempt.answer;
    if (status >= 200 && status < 300) return { kind: "delivered", rejected: rejectedCalls(body) };
    if (!isRetryable(status)) return { kind: "failed", error: refusedError(attempt.answer, attempts) };
  }
  const reason = reasonOf(attempt);
  if (attempts >= maxAttempts) {
    const times = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
    const status = "answer" in attempt ? attempt.answer.status : undefined;
    const cause = "failure" in attempt ? attempt.failure : undefined;
    const error = new AnalyticsError("unavailable", `gave up after ${times}: ${reason}`, { attempts, status, cause });
    return { kind: "failed", error };
  }
  const holdMs = "answer" in attempt ? holdMsOf(attempt.answer, nowMs) : 0;
  return { kind: "retry", delayMs: Math.max(holdMs, retryDelayMs(attempts, random)), holdMs, reason };
}

function isRetryable(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

/**
 * Milliseconds before the next request after `failures` of them: doubling from 100 ms to 30 s, less up to half of it by
 * chance, so that clients that failed together do not return together.
 */
export function retryDelayMs(failures: number, random: number): number {
  const fullMs = Math.min(MAX_RETRY_DELAY_MS, FIRST_RETRY_DELAY_MS * 2 ** (failures - 1));
  return Math.floor(fullMs / 2 + (fullMs / 2) * random);
}

function holdMsOf({ status, retryAfter }: Answer, nowMs: number): number {
  if (retryAfter === null || (status !== 429 && status !== 503)) return 0;
  return Math.min(MAX_RETRY_AFTER_MS, parseRetryAfterMs(retryAfter, nowMs));
}

/** Milliseconds that a Retry-After header asks for, as seconds or as a date; 0 when it says neither. */
export function parseRetryAfterMs(value: string, nowMs: number): number {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Every form of HTTP's date has a comma or a colon; without that check "-1" would be read as a year.
  const momentMs = text.includes(":") ? Date.parse(text) : Number.NaN;
  return Number.isNaN(momentMs) ? 0 : Math.max(0, momentMs - nowMs);
}

function reasonOf(attempt: Attempt): string {
  if ("answer" in attempt) return `the server answered ${attempt.answer.status}`;
  return "the server did not answer";
}

function refusedError({ status, body }: Answer, attempts: number): AnalyticsError {
  const { code, message } = fieldsOf(parseJson(body));
  // Browsers hide where a redirect goes and call its status 0.
  const isRedirect = status === 0 || (status >= 300 && status < 400);
  const hint = isRedirect ? "redirects are not followed: set endpoint to the final URL" : stringOr(message, "");
  const text = `the server answered ${status === 0 ? "a redirect" : status}${hint === "" ? "" : `: ${hint}`}`;
  return new AnalyticsError("refused", text, { status, attempts, serverCode: stringOr(code, undefined) });
}

/**
 * `rejected` of an answer's body. An unreadable body rejects nothing: the status already said that the batch was taken.
 */
function rejectedCalls(body: string): readonly RejectedCall[] {
  const { rejected } = fieldsOf(parseJson(body));
  if (!Array.isArray(rejected)) return [];
  return rejected.flatMap((entry: unknown) => {
    const { index, code, message } = fieldsOf(entry);
    if (typeof index !== "number") return [];
    const text = stringOr(message, "the server did not take this call");
    return [{ index, error: new AnalyticsError("rejected", text, { serverCode: stringOr(code, undefined) }) }];
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function stringOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === "string" ? value : otherwise;
}
