/**
 * The attempts from before control's start, as the attempt log has them, for the health book (HB6 of health-book.ts).
 *
 * Owns: whether the log was asked. Each destination is asked for once, when the log is read to its end: later attempts
 * are reported by delivery processes. A log without all attempts is not asked, since a success may be missing.
 */
import type { Log } from "@posthaste/core/log";
import { pastFrom } from "@posthaste/read-model/logged-past";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { HealthBook } from "./health-book.ts";

/** The destinations in one question, so that others are answered between. */
const ASKED_AT_ONCE = 200;

export interface LoggedAttemptsOptions {
  readonly readModel: Pick<ReadModel, "isComplete" | "lastAttempts">;
  readonly book: Pick<HealthBook, "processes" | "remember">;
  readonly destinations: () => Iterable<{ readonly id: string }>;
  readonly log: Log;
}

export class LoggedAttempts {
  readonly #options: LoggedAttemptsOptions;
  #state: "unread" | "reading" | "read" = "unread";
  readonly #read = Promise.withResolvers<void>();

  constructor(options: LoggedAttemptsOptions) {
    this.#options = options;
  }

  /** The book knows all that the log has. */
  get isRead(): boolean {
    return this.#state === "read";
  }

  /** Resolves once `isRead` is true. */
  get whenRead(): Promise<void> {
    return this.#read.promise;
  }

  /** Asks the log where it was not asked and can be. Never rejects; call it every few seconds. */
  async read(): Promise<void> {
    const { readModel, book, destinations, log } = this.#options;
    if (this.#state !== "unread") return;
    if (book.processes().some(({ logsFailures, loggedShare }) => !logsFailures || loggedShare < 1)) {
      this.#end();
      return;
    }
    if (!readModel.isComplete("attempts")) return;
    this.#state = "reading";
    try {
      const ids = Array.from(destinations(), ({ id }) => id);
      for (let at = 0; at < ids.length; at += ASKED_AT_ONCE) {
        const found = await readModel.lastAttempts(ids.slice(at, at + ASKED_AT_ONCE));
        for (const each of found) book.remember(each.destinationId, pastFrom(each));
      }
      this.#end();
    } catch (error) {
      log.debug({ event: "last_attempts_not_read", err: error });
      this.#state = "unread";
    }
  }

  #end(): void {
    this.#state = "read";
    this.#read.resolve();
  }
}
