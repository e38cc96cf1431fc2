/**
 * One POST to one URL, from its start to its end.
 *
 * States: *pending* (no end of the response headers yet; may still wait for a connection) → *answered* (a final status
 * arrived, the body is read) → *ended*; a failure goes from pending to ended directly. Invariants:
 *  SD1  The outcome is decided once, on leaving pending, and what happens to the body changes nothing in it.
 *  SD2  Pending lasts at most `headersTimeoutMs` from the start, whatever the receiver does: informational answers and
 *       trickled headers do not extend it, nor do waiting for a connection, resolving and connecting.
 *  SD3  Answered lasts at most `bodyTimeoutMs` and `bodyBytes`; then the connection is closed and the request ended.
 *  SD4  A connection that had served before and is lost before the first byte of an answer gets one resend, on a new
 *       connection, within the same time: the receiver's idle timeout met our request half-way. A POST that was
 *       processed and lost its answer would be repeated by a retry anyway, so nothing is risked that at-least-once
 *       delivery does not risk.
 *  SD5  The listener hears `onOutcome` once and then `onEnd` once.
 */
import {
  type AttemptOutcome,
  classifyError,
  classifyStatus,
  obeysRetryAfter,
  type RequestError,
} from "@posthaste/core/delivery/outcome";
import { parseRetryAfter } from "@posthaste/core/delivery/retry-after";
import type { Clock } from "@posthaste/core/time";
import type { Dispatcher } from "undici";
import type { Agents, Connection, Sendable } from "./agents.ts";
import { isConnectionLost, SendError, SHUTTING_DOWN, TIMED_OUT, toRequestError } from "./errors.ts";
import type { Target } from "./request.ts";
import { Timed, type TimerWheel } from "./timer-wheel.ts";

/** What every request of a sender shares. */
export interface SendContext {
  readonly agents: Agents;
  readonly wheel: TimerWheel;
  readonly clock: Clock;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  /** Bytes of the body that are kept. */
  readonly keptBytes: number;
  /** Bytes of the body that are read. */
  readonly bodyBytes: number;
}

export interface PostListener {
  onOutcome(post: Post): void;
  onEnd(post: Post): void;
}

const CUT_OFF = new SendError("POSTHASTE_CUT_OFF", "the rest of the answer is of no interest");

export class Post extends Timed implements Sendable {
  readonly target: Target;
  readonly options: Dispatcher.DispatchOptions;
  connection: Connection | null = null;
  outcome: AttemptOutcome | null = null;
  status: number | null = null;
  error: RequestError | null = null;
  durationMs = 0;
  notBeforeMs: number | null = null;
  /** The start of the response body. */
  readonly kept: Buffer[] = [];
  hasEnded = false;

  readonly #context: SendContext;
  readonly #listener: PostListener;
  readonly #startedMs: number;
  #controller: Dispatcher.DispatchController | null = null;
  #hasFirstByte = false;
  #wasResent = false;
  #bodyBytes = 0;

  constructor(context: SendContext, target: Target, headers: string[], body: Uint8Array, listener: PostListener) {
    super();
    this.#context = context;
    this.target = target;
    this.#listener = listener;
    this.#startedMs = context.clock.monotonicMs();
    this.options = { path: target.path, method: "POST", headers, body };
  }

  start(): void {
    if (this.target.origin === null) {
      this.#decideFailed("invalid_request");
      this.hasEnded = true;
      this.#listener.onEnd(this);
      return;
    }
    this.#context.wheel.add(this, this.#context.headersTimeoutMs);
    this.#context.agents.send(this.target.origin, this);
  }

  /** The process is ending. */
  shutDown(): void {
    this.#giveUp(new SendError(SHUTTING_DOWN, "the process is ending"));
  }

  onTimeout(): void {
    const bodyMs = this.outcome === null ? 0 : this.#bodyTimeLeftMs();
    if (bodyMs > 0) {
      this.#context.wheel.add(this, bodyMs);
      return;
    }
    this.#giveUp(new SendError(TIMED_OUT, "no end of the response headers in time"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown, not aborted: the connection that was made too late is good for the next request.
    // The wheel may not have come to it yet where the process stood still: what was checked before is long ago then.
    const isLate = this.#context.clock.monotonicMs() - this.#startedMs >= this.#context.headersTimeoutMs;
    if (this.hasEnded || isLate) throw new SendError(TIMED_OUT, "the request ended while it waited");
    this.#controller = controller;
  }

  onResponseStarted(): void {
    this.#hasFirstByte = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200 || this.outcome !== null) return;
    const { wheel, headersTimeoutMs, bodyTimeoutMs, clock } = this.#context;
    this.status = status;
    if (obeysRetryAfter(status)) this.notBeforeMs = retryAfter(headers, clock.nowMs());
    this.#decide(classifyStatus(status));
    // The deadline of the headers is left to stand when it comes first: nearly every body has ended by then.
    if (!this.hasEnded && this.durationMs + bodyTimeoutMs < headersTimeoutMs) wheel.add(this, bodyTimeoutMs);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { keptBytes, bodyBytes } = this.#context;
    if (this.#bodyBytes < keptBytes) this.kept.push(chunk.subarray(0, keptBytes - this.#bodyBytes));
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > bodyBytes) controller.abort(CUT_OFF);
  }

  onResponseEnd(): void {
    const connection = this.connection;
    this.#leave();
    // Before anybody hears of the end, so that whoever then sends the next request finds this connection.
    if (connection !== null) this.#context.agents.release(connection);
    this.#listener.onEnd(this);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, reason: Error): void {
    if (this.hasEnded) return;
    const { agents } = this.#context;
    const { connection } = this;
    if (connection !== null && this.#mayResend(connection, reason)) {
      this.#wasResent = true;
      this.#controller = null;
      agents.resend(connection, this);
      return;
    }
    const isFailure = this.outcome === null;
    this.#leave();
    if (connection !== null) agents.discard(connection);
    if (isFailure) this.#decideFailed(toRequestError(reason));
    this.#listener.onEnd(this);
  }

  #mayResend(connection: Connection, reason: Error): boolean {
    if (this.#wasResent || this.#hasFirstByte || this.outcome !== null || connection.served === 0) return false;
    return isConnectionLost(reason);
  }

  /** Ends the request from our side. */
  #giveUp(reason: SendError): void {
    if (this.hasEnded) return;
    if (this.#controller !== null) {
      this.#controller.abort(reason);
      return;
    }
    // It waits for a connection, or for one that is being made.
    this.onResponseError(null, reason);
  }

  #decideFailed(error: RequestError): void {
    this.error = error;
    this.#decide(classifyError(error));
  }

  #decide(outcome: AttemptOutcome): void {
    this.outcome = outcome;
    this.durationMs = this.#context.clock.monotonicMs() - this.#startedMs;
    this.#listener.onOutcome(this);
  }

  #bodyTimeLeftMs(): number {
    const { clock, bodyTimeoutMs } = this.#context;
    return this.#startedMs + this.durationMs + bodyTimeoutMs - clock.monotonicMs();
  }

  /** Gives up everything that others hold for it. */
  #leave(): void {
    this.hasEnded = true;
    this.#context.wheel.remove(this);
    this.connection = null;
    this.#controller = null;
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function retryAfter(headers: Headers, nowMs: number): number | null {
  const value = headers["retry-after"];
  const text = Array.isArray(value) ? value[0] : value;
  return text === undefined ? null : parseRetryAfter(text, nowMs);
}
