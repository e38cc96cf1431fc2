/** The settings of a program, with their defaults. After `resolveOptions` nothing is optional any more. */
import { AnalyticsError } from "./errors.ts";
import type { Message } from "./message.ts";

export interface AnalyticsOptions {
  /** The source's write key. */
  readonly writeKey: string;
  /**
   * Base URL of Posthaste's ingest; requests go to `{endpoint}/v1/batch`. Default `http://127.0.0.1:8080`, the local
   * command's.
   */
  readonly endpoint?: string | undefined;
  /** Queued calls that trigger a flush; 1 sends each call at once, in a request of its own. Default 20. */
  readonly flushAt?: number | undefined;
  /** Another name of `flushAt`. When both are set, the smaller triggers. */
  readonly size?: number | undefined;
  /** Milliseconds since the last flush that trigger the next. Default 5000. */
  readonly flushAfter?: number | undefined;
  /** Bytes of calls that are held at most, waiting and in flight; a call past it goes to `onError`. Default 16 MiB. */
  readonly maxQueueBytes?: number | undefined;
  /** Requests in flight at once; 1 keeps batches in order. Default 8. */
  readonly maxInFlight?: number | undefined;
  /** Requests for one batch, the first included. Default 10, which spread over about 40 s. */
  readonly maxAttempts?: number | undefined;
  /** Milliseconds that one request may take. Default 10000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Milliseconds that `close` may take before undelivered calls go to `onError`. Default 30000. */
  readonly closeTimeoutMs?: number | undefined;
  /** Compress requests. Default false. */
  readonly gzip?: boolean | undefined;
  /** Gets the undelivered calls, and the reason. Without it, failures are written to the console's error stream. */
  readonly onError?: ((error: AnalyticsError, messages: readonly Message[]) => void) | undefined;
  /** Gets the delivered calls, a batch at a time. */
  readonly onSuccess?: ((messages: readonly Message[]) => void) | undefined;
  /** Used in place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export interface ResolvedOptions {
  readonly writeKey: string;
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly flushAt: number;
  readonly flushAfterMs: number;
  readonly maxQueueBytes: number;
  readonly maxInFlight: number;
  readonly maxAttempts: number;
  readonly requestTimeoutMs: number;
  readonly closeTimeoutMs: number;
  readonly gzip: boolean;
  readonly onError: ((error: AnalyticsError, messages: readonly Message[]) => void) | undefined;
  readonly onSuccess: ((messages: readonly Message[]) => void) | undefined;
}

const DEFAULT_ENDPOINT = "http://127.0.0.1:8080";
const DEFAULT_FLUSH_AT = 20;
const DEFAULT_FLUSH_AFTER_MS = 5000;
const DEFAULT_MAX_QUEUE_BYTES = 16 * 1024 * 1024;
/** At 50 ms a request this is 3,200 calls a second with the default `flushAt`. */
const DEFAULT_MAX_IN_FLIGHT = 8;
const DEFAULT_MAX_ATTEMPTS = 10;
/** Ingest answers within 5 s, with a 503 when its brokers did not take the calls; the rest is for the network. */
const DEFAULT_REQUEST_TIMEOUT_MS = 10_000;
const DEFAULT_CLOSE_TIMEOUT_MS = 30_000;

/** Fills in the defaults. Throws AnalyticsError `invalid_option`, with the option as `field`. */
export function resolveOptions(options: AnalyticsOptions): ResolvedOptions {
  if (typeof options?.writeKey !== "string" || options.writeKey === "") throw invalid("writeKey", "a non-empty string");
  const flushAt = wholeNumber(options, "flushAt") ?? Number.POSITIVE_INFINITY;
  const size = wholeNumber(options, "size") ?? Number.POSITIVE_INFINITY;
  const threshold = Math.min(flushAt, size);
  if (options.gzip && typeof CompressionStream === "undefined") {
    throw invalid("gzip", "false in a runtime without CompressionStream");
  }
  return {
    writeKey: options.writeKey,
    endpoint: endpointOf(options.endpoint ?? DEFAULT_ENDPOINT),
    flushAt: Number.isFinite(threshold) ? threshold : DEFAULT_FLUSH_AT,
    flushAfterMs: wholeNumber(options, "flushAfter") ?? DEFAULT_FLUSH_AFTER_MS,
    maxQueueBytes: wholeNumber(options, "maxQueueBytes") ?? DEFAULT_MAX_QUEUE_BYTES,
    maxInFlight: wholeNumber(options, "maxInFlight") ?? DEFAULT_MAX_IN_FLIGHT,
    maxAttempts: wholeNumber(options, "maxAttempts") ?? DEFAULT_MAX_ATTEMPTS,
    requestTimeoutMs: wholeNumber(options, "requestTimeoutMs") ?? DEFAULT_REQUEST_TIMEOUT_MS,
    closeTimeoutMs: wholeNumber(options, "closeTimeoutMs") ?? DEFAULT_CLOSE_TIMEOUT_MS,
    gzip: options.gzip ?? false,
    onError: options.onError,
    onSuccess: options.onSuccess,
  };
}

type NumberOption =
  | "flushAt"
  | "size"
  | "flushAfter"
  | "maxQueueBytes"
  | "maxInFlight"
  | "maxAttempts"
  | "requestTimeoutMs"
  | "closeTimeoutMs";

/** The longest delay that timers take: past it they fire at once. */
const MAX_NUMBER = 2 ** 31 - 1;

function wholeNumber(options: AnalyticsOptions, name: NumberOption): number | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  if (!Number.isInteger(value) || value < 1 || value > MAX_NUMBER)
    throw invalid(name, `a whole number from 1 to ${MAX_NUMBER}`);
  return value;
}

function endpointOf(text: string): string {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    // Reported below, with the expected value.
  }
  const isBase =
    url !== undefined && url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  if (!isBase || (url?.protocol !== "http:" && url?.protocol !== "https:")) {
    throw invalid("endpoint", "an http or https URL without user, query or fragment");
  }
  return text.replace(/\/+$/, "");
}

function invalid(option: string, expected: string): AnalyticsError {
  return new AnalyticsError("invalid_option", `${option} must be ${expected}`, { field: option });
}
