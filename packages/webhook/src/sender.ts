/**
 * The webhook sender. An attempt is a POST to each URL of a destination, all at once.
 *
 * Owns the connections, the timer wheel and the count of requests in flight; `close` ends all of them.
 */
import { performance } from "node:perf_hooks";
import type { Destination } from "@posthaste/core/config/destination";
import type { RequestError } from "@posthaste/core/delivery/outcome";
import type { Clock } from "@posthaste/core/time";
import type { Registry } from "prom-client";
import { type AddressRules, createAddressGuard } from "./address-guard.ts";
import { Agents } from "./agents.ts";
import { AnswerBudget } from "./answer-budget.ts";
import { Attempt, type AttemptContext } from "./attempt.ts";
import {
  createConnectors,
  createOpenConnection,
  type OpenConnection,
  type OpenSocket,
  openSocket,
} from "./connector.ts";
import { toRequestError } from "./errors.ts";
import { createSenderMetrics, createTestSenderMetrics } from "./metrics.ts";
import type { AttemptListener, AttemptReport, UrlResult } from "./report.ts";
import { deliveryHeaders, prepareDestination, type SigningSecret, shownHeaders, type Target } from "./request.ts";
import { createResolve, type Resolve } from "./resolve.ts";
import { secretForms, toAnswer } from "./response.ts";
import { Post, type SendContext } from "./send.ts";
import { TimerWheel } from "./timer-wheel.ts";

export interface WebhookSenderOptions extends AddressRules {
  /** Certificates in PEM to trust beside the usual ones. No option turns verification off. */
  readonly extraCa?: string | undefined;
  /** The registry of the sender's metrics. */
  readonly registry: Registry;
  /** Test-sends count apart from deliveries; default: deliveries. */
  readonly sends?: "deliveries" | "test-sends";
  readonly limits?: Partial<SenderLimits>;
  readonly clock?: Clock;
  /** Resolves a name to addresses; for tests. */
  readonly resolve?: Resolve;
  /** Opens the socket to the checked addresses; for tests. */
  readonly openSocket?: OpenSocket;
}

export interface SenderLimits {
  /** The longest time from the start of a request to the end of the response headers. */
  readonly headersTimeoutMs: number;
  /** The longest time from the end of the response headers to the end of the body. A later body is cut off. */
  readonly bodyTimeoutMs: number;
  /** The most characters of a response body that the delivery log keeps. */
  readonly answerLength: number;
  /** The most bytes of a response body that are read before the connection is closed. */
  readonly bodyBytes: number;
  /** The most bytes of an answer beside its body: head, interim answers, framing and trailers. */
  readonly answerOverheadBytes: number;
  /** The most reads that an answer takes. */
  readonly answerPieces: number;
  readonly connectionsPerOrigin: number;
  /** The most connections of all origins together. */
  readonly connections: number;
  /** The time after which an idle connection is closed; the receiver may ask for an earlier end. */
  readonly idleTimeoutMs: number;
}

const DEFAULT_LIMITS: SenderLimits = {
  headersTimeoutMs: 5_000,
  bodyTimeoutMs: 5_000,
  answerLength: 1_024,
  bodyBytes: 64 * 1024,
  // Twice as much as large heads have. Whatever the bytes say, the parser needs few ms for them.
  answerOverheadBytes: 32 * 1024,
  // A body of the most bytes in segments of a hundred.
  answerPieces: 1_024,
  // Destinations share hosts, and destinations that hang must leave connections for the others of their host. So this
  // is more than all destinations that hang from their first request on may have (CB3 of connection-budget.ts). With
  // 512, a hundred destinations that hang left the healthy ones of their host no connection for 5 s.
  connectionsPerOrigin: 3_840,
  connections: 4_096,
  idleTimeoutMs: 15_000,
};

export interface AttemptRequest {
  readonly destination: Destination;
  readonly messageId: string;
  /** The exact bytes of the request body. */
  readonly body: Uint8Array;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /**
   * The URLs to send to, under `settle: each`; null or absent for all. URLs that the destination no longer has are
   * skipped.
   */
  readonly urls?: readonly string[] | null;
}

export interface TestRequest {
  readonly destination: Destination;
  readonly messageId: string;
  readonly body: Uint8Array;
  /** The secret to sign with. During a rotation, `next` checks that the receiver accepts the next active secret. */
  readonly signWith: SigningSecret;
}

/** The request as it was sent to a URL, with its outcome. `***` stands for values that the customer set. */
export interface TestResult extends UrlResult {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WebhookSender {
  /** Sends to all URLs at once. The listener hears of every outcome, and always of the attempt's end. */
  attempt(request: AttemptRequest, listener: AttemptListener): void;
  /** Makes an attempt, waits for the end of every request, and returns the requests as they were sent. */
  test(request: TestRequest): Promise<readonly TestResult[]>;
  /**
   * Connects to the server of a URL as an attempt does, its TLS handshake included, and closes the connection. Nothing
   * is sent. Returns the reason why an attempt would not get so far; null when it would.
   */
  reach(url: string): Promise<RequestError | null>;
  /** The number of requests that have begun and not ended. */
  readonly requestsInFlight: number;
  /** The number of connections that are open or being opened. */
  readonly openConnections: number;
  /** The upper bound of `openConnections`. */
  readonly maxConnections: number;
  /** Ends every request at once with the error `shutting_down` and closes every connection. */
  close(): Promise<void>;
}

const SYSTEM_CLOCK: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

/**
 * Makes a sender. Throws PosthasteError `invalid_config` for a network that is no CIDR, and for a CA that is no
 * certificate in PEM.
 */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  return new Sender(options);
}

class Sender implements WebhookSender {
  readonly #clock: Clock;
  readonly #limits: SenderLimits;
  readonly #wheel: TimerWheel;
  readonly #agents: Agents;
  readonly #open: OpenConnection;
  readonly #context: SendContext;
  readonly #attemptContext: AttemptContext;
  #inFlight = 0;

  constructor(options: WebhookSenderOptions) {
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { headersTimeoutMs, bodyTimeoutMs, bodyBytes, answerOverheadBytes, answerPieces } = this.#limits;
    this.#wheel = new TimerWheel(this.#clock, Math.max(headersTimeoutMs, bodyTimeoutMs));
    this.#open = createOpenConnection({
      guard: createAddressGuard(options),
      resolve: options.resolve ?? createResolve(),
      openSocket: options.openSocket ?? openSocket,
      extraCa: options.extraCa,
      wheel: this.#wheel,
      timeoutMs: headersTimeoutMs,
    });
    const answer = { overheadBytes: answerOverheadBytes, pieces: answerPieces };
    const createBudget = () => new AnswerBudget(answer, this.#clock);
    const createConnector = createConnectors(this.#open);
    this.#agents = new Agents({ createBudget, createConnector }, this.#limits);
    this.#context = {
      agents: this.#agents,
      wheel: this.#wheel,
      clock: this.#clock,
      headersTimeoutMs,
      bodyTimeoutMs,
      keptBytes: KEPT_BYTES,
      bodyBytes,
    };
    const metrics =
      options.sends === "test-sends"
        ? createTestSenderMetrics(options.registry)
        : createSenderMetrics(options.registry, this);
    this.#attemptContext = {
      toAnswer: (destination, kept) => toAnswer(kept, secretForms(destination), this.#limits.answerLength),
      onOutcome: ({ outcome, error }) => {
        if (outcome !== null) metrics.count(outcome, error);
      },
      onEnd: ({ isOverBudget }) => {
        this.#inFlight -= 1;
        if (isOverBudget) metrics.countOverBudget();
      },
    };
  }

  get requestsInFlight(): number {
    return this.#inFlight;
  }

  get openConnections(): number {
    return this.#agents.openConnections;
  }

  get connectionsOpened(): number {
    return this.#agents.openedConnections;
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
      this.#start(request, targets, headers, nowMs, { ...SILENT_LISTENER, onFinished: resolve });
    });
    const text = Buffer.from(body).toString("utf8");
    return report.urls.map((result, index) => {
      const { fixedHeaders } = targets[index] ?? { fixedHeaders: [] };
      const own = destination.urls[index]?.headers ?? {};
      // This names the answer, since a spread leaves out fields that are made when they are read.
      const shown = shownHeaders(own, [...fixedHeaders, ...headers]);
      return { ...result, answer: result.answer, headers: shown, body: text };
    });
  }

  async reach(url: string): Promise<RequestError | null> {
    const { protocol, hostname, port } = new URL(url);
    try {
      // Undici names a literal of IPv6 without its brackets.
      const socket = await this.#open({ protocol, hostname: hostname.replace(/^\[|\]$/g, ""), port, host: hostname });
      // The end of the handshake is still to be written.
      socket.destroySoon();
      return null;
    } catch (reason) {
      return toRequestError(reason);
    }
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

/** A listener that ignores everything; for callers that need only the report at the end. */
const SILENT_LISTENER = { onOutcome: () => undefined, onEnd: () => undefined, onSettled: () => undefined };

/**
 * The bytes of an answer that are kept until it is masked. That is more than the log shows, so that a secret at the
 * log's cut is found whole.
 */
const KEPT_BYTES = 16 * 1024;
