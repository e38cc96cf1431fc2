/**
 * The store as the rest of control sees it: the same calls, answered by its thread.
 *
 * Owns: the thread. When that ends, every call that waits rejects, and so does every later one; whoever opened the
 * store opens another.
 */
import { Worker } from "node:worker_threads";
import { PosthasteError } from "@posthaste/core/errors";
import type { ReplayedDeliveries, WaitingDeliveries } from "./delivery-table.ts";
import type { HealthOfMinute, HealthQuery, HealthRow } from "./health-table.ts";
import type { CountQuery, FoundEntries, JournalSearch, KindCount, MessageOutcome } from "./journal.ts";
import type { JournalEntry, JournalQuery } from "./journal-entry.ts";
import type { LetterHour, LetterHourQuery } from "./letter-table.ts";
import type { HeldRange, JournalName, StoreOptions, StoreStart, Taken } from "./store.ts";

export type StoreCall =
  | { readonly method: "take"; readonly journal: JournalName; readonly taken: Taken }
  | { readonly method: "newest"; readonly journal: JournalName; readonly query: JournalQuery }
  | { readonly method: "search"; readonly journal: JournalName; readonly query: JournalSearch }
  | { readonly method: "heldLetters" }
  | { readonly method: "letterHours"; readonly query: LetterHourQuery }
  | { readonly method: "counts"; readonly journal: JournalName; readonly query: CountQuery }
  | { readonly method: "outcomes"; readonly journal: JournalName; readonly messageIds: readonly string[] }
  | { readonly method: "waiting" }
  | { readonly method: "nextDueMs"; readonly destinationId: string; readonly fromMs: number }
  | { readonly method: "replayed"; readonly replayIds: readonly string[] }
  | { readonly method: "healthWrittenToMs" }
  | { readonly method: "addHealth"; readonly minute: HealthOfMinute }
  | { readonly method: "health"; readonly query: HealthQuery }
  | { readonly method: "close" };

/** Calls are numbered from 1; 0 is the store's start. */
export interface StoreReply {
  readonly id: number;
  readonly value: unknown;
}

export interface StoreClient {
  readonly start: StoreStart;
  take(journal: JournalName, taken: Taken): Promise<void>;
  newest(journal: JournalName, query: JournalQuery): Promise<readonly JournalEntry[]>;
  search(journal: JournalName, query: JournalSearch): Promise<FoundEntries>;
  heldLetters(): Promise<readonly HeldRange[]>;
  letterHours(query: LetterHourQuery): Promise<readonly LetterHour[]>;
  counts(journal: JournalName, query: CountQuery): Promise<readonly KindCount[]>;
  outcomes(journal: JournalName, messageIds: readonly string[]): Promise<readonly MessageOutcome[]>;
  waiting(): Promise<readonly WaitingDeliveries[]>;
  nextDueMs(destinationId: string, fromMs: number): Promise<number | null>;
  replayed(replayIds: readonly string[]): Promise<readonly ReplayedDeliveries[]>;
  healthWrittenToMs(): Promise<number | null>;
  addHealth(minute: HealthOfMinute): Promise<void>;
  health(query: HealthQuery): Promise<readonly HealthRow[]>;
  /** Writes what is not written yet and ends the thread. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: Error) => void;
}

/** Resolves when the store is open. `onFailure`: the thread ended without being asked to. */
export async function openStore(options: StoreOptions, onFailure: (reason: Error) => void): Promise<StoreClient> {
  const worker = new Worker(new URL("./store-worker.ts", import.meta.url), { workerData: options });
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  let ended: Error | null = null;

  const end = (reason: Error): void => {
    if (ended !== null) return;
    ended = reason;
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  };
  const started = new Promise<StoreStart>((resolve, reject) => {
    waiting.set(0, { resolve: (value) => resolve(value as StoreStart), reject });
  });
  worker.on("message", ({ id, value }: StoreReply) => {
    waiting.get(id)?.resolve(value);
    waiting.delete(id);
  });
  worker.on("error", (cause) => {
    const reason = new PosthasteError("internal", "the delivery log's database failed", { cause });
    end(reason);
    onFailure(reason);
  });
  worker.on("exit", () => end(new PosthasteError("closed", "the delivery log is closed")));

  // What each method answers is said by `StoreClient`, and by the store behind it.
  const ask = <T>(call: StoreCall): Promise<T> => {
    if (ended !== null) return Promise.reject(ended);
    calls += 1;
    const id = calls;
    return new Promise<T>((resolve, reject) => {
      waiting.set(id, { resolve: (value) => resolve(value as T), reject });
      worker.postMessage({ id, call });
    });
  };

  return {
    start: await started,
    take: (journal, taken) => ask({ method: "take", journal, taken }),
    newest: (journal, query) => ask({ method: "newest", journal, query }),
    search: (journal, query) => ask({ method: "search", journal, query }),
    heldLetters: () => ask({ method: "heldLetters" }),
    letterHours: (query) => ask({ method: "letterHours", query }),
    counts: (journal, query) => ask({ method: "counts", journal, query }),
    outcomes: (journal, messageIds) => ask({ method: "outcomes", journal, messageIds }),
    waiting: () => ask({ method: "waiting" }),
    nextDueMs: (destinationId, fromMs) => ask({ method: "nextDueMs", destinationId, fromMs }),
    replayed: (replayIds) => ask({ method: "replayed", replayIds }),
    healthWrittenToMs: () => ask({ method: "healthWrittenToMs" }),
    addHealth: (minute) => ask({ method: "addHealth", minute }),
    health: (query) => ask({ method: "health", query }),
    close: async () => {
      await ask({ method: "close" }).catch(() => undefined);
      await worker.terminate();
    },
  };
}
