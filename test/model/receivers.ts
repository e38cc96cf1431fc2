/**
 * The customers' URLs, and a sender over them in place of packages/webhook: the answer of each is scripted and may
 * change.
 *
 * Owns: the present behaviour of each URL. A request is judged by its URL's behaviour when it arrives.
 */
import type { AttemptOutcome, RequestError, Settlement } from "@posthaste/core/delivery/outcome";
import { classifyError, classifyStatus, DELIVERED, obeysRetryAfter, settle } from "@posthaste/core/delivery/outcome";
import type { AttemptListener, AttemptReport, UrlResult } from "@posthaste/webhook/report";
import type { AttemptRequest, WebhookSender } from "@posthaste/webhook/sender";
import type { TimerOwner, World } from "./world.ts";

/** A URL's behaviour for a request. */
export type Behaviour =
  | { readonly kind: "answer"; readonly status: number; readonly afterMs: number; readonly retryAfterMs?: number }
  | { readonly kind: "reset"; readonly afterMs: number }
  | { readonly kind: "hang" };

const HEADERS_TIMEOUT_MS = 5000;

export class Receivers {
  readonly #behaviours = new Map<string, Behaviour>();

  set(url: string, behaviour: Behaviour): void {
    this.#behaviours.set(url, behaviour);
  }

  of(url: string): Behaviour {
    return this.#behaviours.get(url) ?? { kind: "answer", status: 200, afterMs: 5 };
  }
}

/** The model's view of every attempt. */
export interface AttemptWatch {
  onStart(request: AttemptRequest, urls: readonly string[]): void;
  /** A URL took it: it was answered with 2xx, heard or not. */
  onTaken(request: AttemptRequest, url: string): void;
  onResult(request: AttemptRequest, result: UrlResult): void;
}

export interface ModelSenderOptions {
  readonly world: World;
  readonly owner: TimerOwner;
  readonly receivers: Receivers;
  readonly maxConnections: number;
  readonly watch: AttemptWatch;
}

/** Sends as packages/webhook does: to all URLs at once, settled by the destination's rule, each request to its end. */
export function createModelSender(options: ModelSenderOptions): WebhookSender {
  const { world, owner, receivers, maxConnections, watch } = options;
  let inFlight = 0;
  const attempt = (request: AttemptRequest, listener: AttemptListener): void => {
    const { destination } = request;
    const urls = destination.urls.map(({ url }) => url).filter((url) => request.urls?.includes(url) ?? true);
    const startedAtMs = Date.now();
    const results: UrlResult[] = [];
    let report: AttemptReport | null = null;
    const tellSettled = (settlement: Settlement): void => {
      report = { settlement, startedAtMs, urls: inOrder(urls, results) };
      listener.onSettled(report);
    };
    const note = (result: UrlResult): void => {
      inFlight -= 1;
      results.push(result);
      const index = urls.indexOf(result.url);
      watch.onResult(request, result);
      listener.onOutcome(index, result.outcome, result);
      if (report === null) {
        if (destination.settle === "any" && result.outcome === "delivered") tellSettled(DELIVERED);
        else if (results.length === urls.length) tellSettled(settle(destination.settle, results));
      }
      listener.onEnd(index, { outcome: result.outcome, isOverBudget: false, answerMs: 0 });
      if (report !== null && results.length === urls.length) {
        listener.onFinished({ ...report, urls: inOrder(urls, results) });
      }
    };
    watch.onStart(request, urls);
    inFlight += urls.length;
    for (const url of urls) {
      const behaviour = receivers.of(url);
      if (behaviour.kind === "answer" && classifyStatus(behaviour.status) === "delivered") watch.onTaken(request, url);
      world.after(durationOf(behaviour), owner, () => note(toResult(url, behaviour)));
    }
    if (urls.length > 0) return;
    queueMicrotask(() => {
      tellSettled(DELIVERED);
      if (report !== null) listener.onFinished(report);
    });
  };
  return {
    attempt,
    reach: () => Promise.resolve(null),
    test: () => Promise.reject(new Error("the model sends no tests")),
    get requestsInFlight() {
      return inFlight;
    },
    openConnections: 0,
    maxConnections,
    close: () => Promise.resolve(),
  };
}

function inOrder(urls: readonly string[], results: readonly UrlResult[]): readonly UrlResult[] {
  return urls.flatMap((url) => results.find((result) => result.url === url) ?? []);
}

function durationOf(behaviour: Behaviour): number {
  return behaviour.kind === "hang" ? HEADERS_TIMEOUT_MS : Math.min(behaviour.afterMs, HEADERS_TIMEOUT_MS);
}

function toResult(url: string, behaviour: Behaviour): UrlResult {
  const base = { url, durationMs: durationOf(behaviour), answer: null };
  if (behaviour.kind === "answer" && behaviour.afterMs < HEADERS_TIMEOUT_MS) {
    const { status, retryAfterMs } = behaviour;
    const outcome: AttemptOutcome = classifyStatus(status);
    const notBeforeMs = retryAfterMs !== undefined && obeysRetryAfter(status) ? Date.now() + retryAfterMs : null;
    return { ...base, outcome, status, error: null, notBeforeMs };
  }
  const error: RequestError = behaviour.kind === "reset" ? "connection_reset" : "timeout";
  return { ...base, outcome: classifyError(error), status: null, error, notBeforeMs: null };
}
