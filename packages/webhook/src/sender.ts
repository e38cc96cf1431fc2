/** The webhook sender: one attempt is one POST to each URL of a destination, all at once. */
import type { Destination } from "@posthaste/core/destination";
import type { Log } from "@posthaste/core/log";
import type { AttemptOutcome, RequestError, Settlement } from "@posthaste/core/outcome";
import type { Clock } from "@posthaste/core/time";
import type { Registry } from "prom-client";
import type { OpenSocket } from "./connector.ts";
import type { Resolve } from "./resolve.ts";

export interface WebhookSenderOptions {
  /** CIDRs of private networks that webhooks may reach (`POSTHASTE_ALLOW_NETWORKS`). */
  readonly allowNetworks: readonly string[];
  /** Certificates in PEM to trust besides the usual ones. Verification itself cannot be turned off. */
  readonly extraCa?: string;
  readonly log: Log;
  readonly registry: Registry;
  readonly clock?: Clock;
  readonly limits?: Partial<SenderLimits>;
  /** Name to addresses; for tests. */
  readonly resolve?: Resolve;
  /** Opens the socket to the addresses that were checked; for tests. */
  readonly openSocket?: OpenSocket;
}

export interface SenderLimits {
  /** From the start of the request to the end of the response headers. */
  readonly headersTimeoutMs: number;
  /** From the end of the response headers to the end of the body; what is late is cut off and changes no outcome. */
  readonly bodyTimeoutMs: number;
  /** Bytes of a response body that are kept for the delivery log. */
  readonly answerBytes: number;
  /** Bytes of a response body that are read before the connection is closed. */
  readonly bodyBytes: number;
  readonly connectionsPerOrigin: number;
  /** Connections of all origins together. */
  readonly connections: number;
  /** An idle connection is closed after this, or earlier when the receiver says so. */
  readonly idleTimeoutMs: number;
}

export interface AttemptRequest {
  readonly destination: Destination;
  readonly messageId: string;
  /** The exact bytes of the request body. */
  readonly body: Uint8Array;
  /** 1 for the first. */
  readonly attempt: number;
  /** Only these of the destination's URLs (`settle: each`); null or absent for all. URLs that the destination no longer has are skipped. */
  readonly urls?: readonly string[] | null;
  /** `next` for a test-send during a rotation; X-Signature is by the active secret otherwise. */
  readonly signWith?: "active" | "next";
}

/** What one URL came to. */
export interface UrlResult {
  readonly url: string;
  readonly outcome: AttemptOutcome;
  readonly status: number | null;
  /** Null when a status arrived. */
  readonly error: RequestError | null;
  /** From the start to the end of the response headers, or to the failure. */
  readonly durationMs: number;
  /** From an obeyed `Retry-After`, ms since the epoch. */
  readonly notBeforeMs: number | null;
  /** The start of the response body, known secrets masked; null when there was none. Made when it is asked for. */
  readonly answer: string | null;
}

export interface AttemptReport {
  /** What follows from it; `settlement.outcome` is the attempt's outcome. */
  readonly settlement: Settlement;
  /** Ms since the epoch. */
  readonly startedAtMs: number;
  /** Results so far, in the order of the destination's URLs: all of them once the attempt is finished. */
  readonly urls: readonly UrlResult[];
}

export interface AttemptHandle {
  /** Requests that this attempt made: one for each URL. 0 when none of the URLs asked for is the destination's any more. */
  readonly requests: number;
  /** `any`: at the first 2xx, or when every URL failed. `each`: when every URL has its outcome. Never rejects. */
  readonly settled: Promise<AttemptReport>;
  /** When every request has ended, bodies included. Never rejects. */
  readonly finished: Promise<AttemptReport>;
}

/** The request as it was sent to one URL and what came of it; static header values read `***`. */
export interface TestResult extends UrlResult {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WebhookSender {
  attempt(request: AttemptRequest): AttemptHandle;
  /** An attempt that waits for every URL and says what was sent: control's test-send. */
  test(request: AttemptRequest): Promise<readonly TestResult[]>;
  readonly requestsInFlight: number;
  /** Ends every request at once with the error `shutting_down` and closes every connection. */
  close(): Promise<void>;
}

export declare function createWebhookSender(options: WebhookSenderOptions): WebhookSender;
