/**
 * A POST to a URL, from its start to its end.
 *
 * States: *pending* (the response headers have not ended; the POST may still wait for a connection) → *answered* (a
 * final status arrived and the body is being read) → *ended*. A failure leads from pending to ended directly.
 * Invariants:
 *  SD1  The outcome is decided once, when the POST leaves pending. Whatever happens to the body does not change it.
 *  SD2  A POST is pending for at most `headersTimeoutMs` from its start, whatever the receiver does: informational
 *       answers, trickled headers, waiting for a connection, resolving and connecting do not extend that time.
 *  SD3  A POST is answered for at most `bodyTimeoutMs` and `bodyBytes`; then the connection is closed and the POST
 *       ends. One that ends for its time is over its budget, as by SD4: a body of a byte a second holds a connection.
 *  SD4  When a connection that had served before is lost before the first byte of an answer, the POST is sent once more
 *       on a new connection, within the same time: the receiver's idle timeout crossed our request. A retry would
 *       repeat a POST whose answer was lost anyway, so this risks nothing that at-least-once delivery does not risk.
 *       An answer that has too many pieces, or bytes beside its body, for its budget (WB1 of answer-budget.ts) ends the
 *       POST with the error `answer_over_budget`. A pending POST fails with that error. Of an answered POST the
 *       outcome stays, and the error stands beside the status.
 *  SD5  The POST calls its listener's `onOutcome` once and then its `onEnd` once.
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
import { ANSWER_OVER_BUDGET, isConnectionLost, SendError, SHUTTING_DOWN, TIMED_OUT, toRequestError } from "./errors.ts";
import { KeptBody } from "./kept-body.ts";
import type { Target } from "./request.ts";
import { Timed, type TimerWheel } from "./timer-wheel.ts";

/** The parts of a sender that all of its requests share. */
export interface SendContext {
  readonly agents: Agents;
  readonly wheel: TimerWheel;
  readonly clock: Clock;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  /** The most bytes of a response body that are kept. */
  readonly keptBytes: number;
  /** The most bytes of a response body that are read. */
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
  readonly kept: KeptBody;
  hasEnded = false;
  isOverBudget = false;
  answerMs = 0;

  readonly #context: SendContext;
  readonly #listener: PostListener;
  readonly #startedMs: number;
  #controller: Dispatcher.DispatchController | null = null;
  #hasFirstByte = false;
  #wasResent = false;

  constructor(context: SendContext, target: Target, headers: string[], body: Uint8Array, listener: PostListener) {
    super();
    this.#context = context;
    this.target = target;
    this.kept = new KeptBody(context.keptBytes);
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

  /** Ends the POST because the process is ending. */
  shutDown(): void {
    this.#giveUp(new SendError(SHUTTING_DOWN, "the process is ending"));
  }

  onTimeout(): void {
    const bodyMs = this.outcome === null ? 0 : this.#bodyTimeLeftMs();
    if (bodyMs > 0) {
      this.#context.wheel.add(this, bodyMs);
      return;
    }
    if (this.outcome === null) this.#giveUp(new SendError(TIMED_OUT, "no end of the response headers in time"));
    else this.#giveUp(new SendError(ANSWER_OVER_BUDGET, "no end of the response body in time"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // This throws instead of aborting, so that a connection that was made too late serves the next request.
    // After the process stood still, the wheel may not have come to this POST yet, and earlier checks are long past.
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
    this.connection?.budget.noteHead();
    if (obeysRetryAfter(status)) this.notBeforeMs = retryAfter(headers, clock.nowMs());
    this.#decide(classifyStatus(status));
    // Where the headers' deadline comes first, it stays set: nearly every body has ended by then.
    if (!this.hasEnded && this.durationMs + bodyTimeoutMs < headersTimeoutMs) wheel.add(this, bodyTimeoutMs);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.kept.add(chunk);
    const isWithin = this.connection?.budget.noteBody(chunk.length) ?? true;
    if (this.kept.arrived > this.#context.bodyBytes) controller.abort(CUT_OFF);
    else if (!isWithin) controller.abort(new SendError(ANSWER_OVER_BUDGET, "the chunks of the body are too small"));
  }

  onResponseEnd(): void {
    const connection = this.connection;
    this.kept.end();
    this.#leave();
    // The connection is given back before the listener hears of the end, so that the next request finds it.
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
    const error = toRequestError(reason);
    this.isOverBudget = error === "answer_over_budget";
    this.#leave();
    if (connection !== null) agents.discard(connection);
    if (this.outcome === null) this.#decideFailed(error);
    else if (this.isOverBudget) this.error = error;
    this.#listener.onEnd(this);
  }

  #mayResend(connection: Connection, reason: Error): boolean {
    if (this.#wasResent || this.#hasFirstByte || this.outcome !== null || connection.served === 0) return false;
    return isConnectionLost(reason);
  }

  /** Ends the request from this side. */
  #giveUp(reason: SendError): void {
    if (this.hasEnded) return;
    if (this.#controller !== null) {
      this.#controller.abort(reason);
      return;
    }
    // The request waits for a connection, which may be in the making.
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

  /** Releases the timer and the connection that others hold for this POST. */
  #leave(): void {
    this.hasEnded = true;
    this.answerMs = this.connection?.budget.spentMs() ?? 0;
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
