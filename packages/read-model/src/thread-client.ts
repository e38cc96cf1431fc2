/**
 * Calls to a worker thread, which answers each by its number.
 *
 * Owns: the thread. When the thread ends, every waiting call rejects, and so does every later one; the owner of this
 * client opens another.
 */
import type { Worker } from "node:worker_threads";

/** A message to the thread. Calls are numbered from 1. */
export interface ThreadCall<Call> {
  readonly id: number;
  readonly call: Call;
}

/** A message from the thread; the number 0 stands for its start. */
export interface ThreadReply {
  readonly id: number;
  readonly value: unknown;
}

/** A call of a method of the object that a thread holds. */
export interface MethodCall<Method extends string = string> {
  readonly method: Method;
  readonly args: readonly unknown[];
}

/** The methods of an object that a thread holds, each of which asks the thread. */
export function remoteMethods<Method extends string>(
  methods: readonly Method[],
  ask: (call: MethodCall<Method>) => Promise<unknown>,
): Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>> {
  return Object.fromEntries(methods.map((method) => [method, (...args: unknown[]) => ask({ method, args })]));
}

export interface ThreadEnds {
  /** The error with which calls reject when the thread failed. */
  readonly failed: (cause: unknown) => Error;
  /** The error with which calls reject when the thread was closed. */
  readonly closed: () => Error;
  /** Called when the thread ended without being asked to. */
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

  /**
   * Resolves with the thread's first message. The caller knows its type, as it knows the type of each call's answer.
   */
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

  /** Sends the thread a last call and ends the thread after it. */
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
