/**
 * Calls that a thread answers by their numbers.
 *
 * Owns: the thread. When that ends, every call that waits rejects, and so does every later one; whoever opened it opens
 * another.
 */
import type { Worker } from "node:worker_threads";

/** What the thread is sent. Calls are numbered from 1. */
export interface ThreadCall<Call> {
  readonly id: number;
  readonly call: Call;
}

/** What the thread sends; 0 is its start. */
export interface ThreadReply {
  readonly id: number;
  readonly value: unknown;
}

export interface ThreadEnds {
  /** What calls reject with when the thread failed. */
  readonly failed: (cause: unknown) => Error;
  /** What calls reject with when the thread was closed. */
  readonly closed: () => Error;
  /** The thread ended without being asked to. */
  readonly onFailure: (reason: Error) => void;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: Error) => void;
}

export class ThreadClient<Call> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #ended: Error | null = null;
  readonly #started: Promise<unknown>;

  constructor(worker: Worker, { failed, closed, onFailure }: ThreadEnds) {
    this.#worker = worker;
    this.#started = this.#replyTo(0);
    worker.on("message", ({ id, value }: ThreadReply) => {
      this.#waiting.get(id)?.resolve(value);
      this.#waiting.delete(id);
    });
    worker.on("error", (cause) => {
      const reason = failed(cause);
      this.#end(reason);
      onFailure(reason);
    });
    worker.on("exit", () => this.#end(closed()));
  }

  /** Resolves with what the thread said first. The caller knows its type, as it does that of each call's answer. */
  started<Start>(): Promise<Start> {
    return this.#started as Promise<Start>;
  }

  ask<Answer>(call: Call): Promise<Answer> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    this.#calls += 1;
    const reply = this.#replyTo(this.#calls);
    this.#worker.postMessage({ id: this.#calls, call } satisfies ThreadCall<Call>);
    return reply as Promise<Answer>;
  }

  /** Ends the thread, which does what this call says before. */
  async close(call: Call): Promise<void> {
    await this.ask(call).catch(() => undefined);
    await this.#worker.terminate();
  }

  #replyTo(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
  }

  #end(reason: Error): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }
}
