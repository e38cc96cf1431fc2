/**
 * The webhook sender: one attempt is one POST to each URL of a destination, all at once.
 *
 * Owns the connections, the timer wheel and the count of requests in flight; `close` ends all of them.
 */
import { performance } from "node:perf_hooks";
import type { Destination } from "@posthaste/core/config/destination";
import type { Clock } from "@posthaste/core/time";
import type { Registry } from "prom-client";
import { type AddressRules, createAddressGuard } from "./address-guard.ts";
import { Agents } from "./agents.ts";
import { Attempt, type AttemptContext } from "./attempt.ts";
import { createConnector, type OpenSocket, openSocket } from "./connector.ts";
import { createSenderMetrics } from "./metrics.ts";
import type { AttemptListener, AttemptReport, UrlResult } from "./report.ts";
import { deliveryHeaders, prepareDestination, type SigningSecret, shownHeaders, type Target } from "./request.ts";
import { createResolve, type Resolve } from "./resolve.ts";
import { secretForms, toAnswer } from "./response.ts";
import { Post, type SendContext } from "./send.ts";
import { TimerWheel } from "./timer-wheel.ts";

export interface WebhookSenderOptions extends AddressRules {
  /** Certificates in PEM to trust besides the usual ones. Verification itself cannot be turned off. */
  readonly extraCa?: string | undefined;
  /** Where the sender's metrics are made. */
  readonly registry: Registry;
  readonly limits?: Partial<SenderLimits>;
  readonly clock?: Clock;
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
  /** Characters of a response body that are kept for the delivery log. */
  readonly answerLength: number;
  /** Bytes of a response body that are read before the connection is closed. */
  readonly bodyBytes: number;
  readonly connectionsPerOrigin: number;
  /** Connections of all origins together. */
  readonly connections: number;
  /** An idle connection is closed after this, or earlier when the receiver says so. */
  readonly idleTimeoutMs: number;
}

const DEFAULT_LIMITS: SenderLimits = {
  headersTimeoutMs: 5_000,
  bodyTimeoutMs: 5_000,
  answerLength: 1_024,
  bodyBytes: 64 * 1024,
  // Destinations share hosts, and what hangs at some must leave connections for the others of that host: so it is more
  // than all that hang from the first may have (CB3 of connection-budget.ts; tried with 512: a hundred that hang left
  // the healthy ones of their host nothing for 5 s).
  connectionsPerOrigin: 3_840,
  connections: 4_096,
  idleTimeoutMs: 15_000,
};

export interface AttemptRequest {
  readonly destination: Destination;
  readonly messageId: string;
  /** The exact bytes of the request body. */
  readonly body: Uint8Array;
  /** 1 for the first. */
  readonly attempt: number;
  /**
   * Only these of the destination's URLs (`settle: each`); null or absent for all. URLs that it no longer has are
   * skipped.
   */
  readonly urls?: readonly string[] | null;
}

export interface TestRequest {
  readonly destination: Destination;
  readonly messageId: string;
  readonly body: Uint8Array;
  /** `next` checks during a rotation that the receiver accepts the secret that is about to become active. */
  readonly signWith: SigningSecret;
}

/** The request as it was sent to one URL and what came of it; values that the customer set read `***`. */
export interface TestResult extends UrlResult {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WebhookSender {
  /** Sends to all URLs at once; the listener hears what comes of it, and always of its end. */
  attempt(request: AttemptRequest, listener: AttemptListener): void;
  /** An attempt that waits for the end of every request and tells what was sent. */
  test(request: TestRequest): Promise<readonly TestResult[]>;
  /** Requests that have begun and not ended. */
  readonly requestsInFlight: number;
  /** Connections that are open or being opened. */
  readonly openConnections: number;
  /** What `openConnections` is at the most. */
  readonly maxConnections: number;
  /** Ends every request at once with the error `shutting_down` and closes every connection. */
  close(): Promise<void>;
}

const SYSTEM_CLOCK: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

/** Throws PosthasteError `invalid_config` for a network that is no CIDR, and for a CA that is no certificate in PEM. */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  return new Sender(options);
}

class Sender implements WebhookSender {
  readonly #clock: Clock;
  readonly #limits: SenderLimits;
  readonly #wheel: TimerWheel;
  readonly #agents: Agents;
  readonly #context: SendContext;
  readonly #attemptContext: AttemptContext;
  #inFlight = 0;

  constructor(options: WebhookSenderOptions) {
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { headersTimeoutMs, bodyTimeoutMs, bodyBytes } = this.#limits;
    this.#wheel = new TimerWheel(this.#clock, Math.max(headersTimeoutMs, bodyTimeoutMs));
    const connector = createConnector({
      guard: createAddressGuard(options),
      resolve: options.resolve ?? createResolve(),
      openSocket: options.openSocket ?? openSocket,
      extraCa: options.extraCa,
      wheel: this.#wheel,
      timeoutMs: headersTimeoutMs,
    });
    this.#agents = new Agents(connector, this.#limits);
    this.#context = {
      agents: this.#agents,
      wheel: this.#wheel,
      clock: this.#clock,
      headersTimeoutMs,
      bodyTimeoutMs,
      keptBytes: KEPT_BYTES,
      bodyBytes,
    };
    const metrics = createSenderMetrics(options.registry, () => this.#inFlight);
    this.#attemptContext = {
      toAnswer: (destination, kept) => toAnswer(kept, secretForms(destination), this.#limits.answerLength),
      onOutcome: ({ outcome, error }) => {
        if (outcome !== null) metrics.count(outcome, error);
      },
      onEnd: () => {
        this.#inFlight -= 1;
      },
    };
  }

  get requestsInFlight(): number {
    return this.#inFlight;
  }

  get openConnections(): number {
    return this.#agents.openConnections;
  }

  get maxConnections(): number {
    return this.#limits.connections;
  }

  attempt(request: AttemptRequest, listener: AttemptListener): void {
    const { targets } = prepareDestination(request.destination);
    const { urls } = request;
    const chosen = urls ? targets.filter((target) => urls.includes(target.url)) : targets;
    const nowMs = this.#clock.nowMs();
    this.#start(request, chosen, deliveryHeaders(request, "active", nowMs), nowMs, listener);
  }

  async test({ destination, messageId, body, signWith }: TestRequest): Promise<readonly TestResult[]> {
    const request = { destination, messageId, body, attempt: 1 };
    const { targets } = prepareDestination(destination);
    const nowMs = this.#clock.nowMs();
    const headers = deliveryHeaders(request, signWith, nowMs);
    const report = await new Promise<AttemptReport>((resolve) => {
      this.#start(request, targets, headers, nowMs, { ...UNHEARD, onFinished: resolve });
    });
    const text = Buffer.from(body).toString("utf8");
    return report.urls.map((result, index) => {
      const { fixedHeaders } = targets[index] ?? { fixedHeaders: [] };
      const own = destination.urls[index]?.headers ?? {};
      // The answer is named, since a spread leaves out what is made when it is read.
      const shown = shownHeaders(own, [...fixedHeaders, ...headers]);
      return { ...result, answer: result.answer, headers: shown, body: text };
    });
  }

  async close(): Promise<void> {
    for (const entry of this.#wheel.waiting()) if (entry instanceof Post) entry.shutDown();
    await this.#agents.close();
  }

  #start(
    { destination, body }: AttemptRequest,
    targets: readonly Target[],
    headers: readonly string[],
    nowMs: number,
    listener: AttemptListener,
  ): void {
    const attempt = new Attempt(this.#attemptContext, destination, nowMs, listener);
    this.#inFlight += targets.length;
    attempt.start(
      targets.map((target) => new Post(this.#context, target, target.fixedHeaders.concat(headers), body, attempt)),
    );
  }
}

/** For who asks only what came of it in the end. */
const UNHEARD = { onOutcome: () => undefined, onEnd: () => undefined, onSettled: () => undefined };

/**
 * Bytes of an answer that are kept until it is masked: more than is shown, so that a secret at the cut is seen whole.
 */
const KEPT_BYTES = 16 * 1024;
