/** Callers that wait until a table holds a revision of a key. */
import { withDeadline } from "../connection/deadline.ts";

interface Waiter {
  readonly key: string;
  readonly revision: number;
  readonly resolve: () => void;
}

export class RevisionWaiters {
  readonly #topic: string;
  readonly #waiters = new Set<Waiter>();

  constructor(topic: string) {
    this.#topic = topic;
  }

  /** Resolves when `wake` names this revision of the key or a later one. Rejects with `deadline_exceeded`. */
  wait(key: string, revision: number, timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = { key, revision, resolve };
    this.#waiters.add(waiter);
    const what = `reading revision ${revision} of a record of ${this.#topic}`;
    return withDeadline(promise, timeoutMs, what).finally(() => this.#waiters.delete(waiter));
  }

  /** Tells the callers that the table holds this revision of the key. */
  wake(key: string, revision: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.key === key && waiter.revision <= revision) waiter.resolve();
    }
  }
}
