/** The store as the rest of control sees it: the same calls, answered by its thread. */
import { Worker } from "node:worker_threads";
import { PosthasteError } from "@posthaste/core/errors";
import { ThreadClient } from "../thread-client.ts";
import type { ReplayedDeliveries, WaitingDeliveries } from "./delivery-table.ts";
import type { HealthOfMinute, HealthQuery, HealthRow } from "./health-table.ts";
import type { CountQuery, FoundEntries, JournalSearch, KindCount, MessageOutcome } from "./journal.ts";
import type { JournalCursor } from "./journal-cursor.ts";
import type { JournalEntry, JournalQuery } from "./journal-entry.ts";
import type { AlikeLetters, LetterRows, LetterRowsQuery } from "./letter-rows.ts";
import type { LetterHour, LetterHourQuery } from "./letter-table.ts";
import type { HeldRange, JournalName, StoreOptions, StoreStart, Taken } from "./store.ts";

export type StoreCall =
  | { readonly method: "take"; readonly journal: JournalName; readonly taken: Taken }
  | { readonly method: "newest"; readonly journal: JournalName; readonly query: JournalQuery }
  | { readonly method: "search"; readonly journal: JournalName; readonly query: JournalSearch }
  | { readonly method: "heldLetters" }
  | { readonly method: "letterHours"; readonly query: LetterHourQuery }
  | { readonly method: "alikeLetters" }
  | { readonly method: "letterRows"; readonly query: LetterRowsQuery }
  | { readonly method: "at"; readonly journal: JournalName; readonly places: readonly JournalCursor[] }
  | { readonly method: "counts"; readonly journal: JournalName; readonly query: CountQuery }
  | { readonly method: "outcomes"; readonly journal: JournalName; readonly messageIds: readonly string[] }
  | { readonly method: "waiting" }
  | { readonly method: "nextDueMs"; readonly destinationId: string; readonly fromMs: number }
  | { readonly method: "replayed"; readonly replayIds: readonly string[] }
  | { readonly method: "healthWrittenToMs" }
  | { readonly method: "addHealth"; readonly minute: HealthOfMinute }
  | { readonly method: "health"; readonly query: HealthQuery }
  | { readonly method: "close" };

export interface StoreClient {
  readonly start: StoreStart;
  take(journal: JournalName, taken: Taken): Promise<void>;
  newest(journal: JournalName, query: JournalQuery): Promise<readonly JournalEntry[]>;
  search(journal: JournalName, query: JournalSearch): Promise<FoundEntries>;
  heldLetters(): Promise<readonly HeldRange[]>;
  letterHours(query: LetterHourQuery): Promise<readonly LetterHour[]>;
  alikeLetters(): Promise<readonly AlikeLetters[]>;
  letterRows(query: LetterRowsQuery): Promise<LetterRows>;
  at(journal: JournalName, places: readonly JournalCursor[]): Promise<readonly JournalEntry[]>;
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

/** Resolves when the store is open. `onFailure`: the thread ended without being asked to. */
export async function openStore(options: StoreOptions, onFailure: (reason: Error) => void): Promise<StoreClient> {
  const worker = new Worker(new URL("./store-worker.ts", import.meta.url), { workerData: options });
  const thread = new ThreadClient<StoreCall>(worker, {
    failed: (cause) => new PosthasteError("internal", "the delivery log's database failed", { cause }),
    closed: () => new PosthasteError("closed", "the delivery log is closed"),
    onFailure,
  });
  // What each method answers is said by `StoreClient`, and by the store behind it.
  const ask = <T>(call: StoreCall): Promise<T> => thread.ask<T>(call);
  return {
    start: await thread.started<StoreStart>(),
    take: (journal, taken) => ask({ method: "take", journal, taken }),
    newest: (journal, query) => ask({ method: "newest", journal, query }),
    search: (journal, query) => ask({ method: "search", journal, query }),
    heldLetters: () => ask({ method: "heldLetters" }),
    letterHours: (query) => ask({ method: "letterHours", query }),
    alikeLetters: () => ask({ method: "alikeLetters" }),
    letterRows: (query) => ask({ method: "letterRows", query }),
    at: (journal, places) => ask({ method: "at", journal, places }),
    counts: (journal, query) => ask({ method: "counts", journal, query }),
    outcomes: (journal, messageIds) => ask({ method: "outcomes", journal, messageIds }),
    waiting: () => ask({ method: "waiting" }),
    nextDueMs: (destinationId, fromMs) => ask({ method: "nextDueMs", destinationId, fromMs }),
    replayed: (replayIds) => ask({ method: "replayed", replayIds }),
    healthWrittenToMs: () => ask({ method: "healthWrittenToMs" }),
    addHealth: (minute) => ask({ method: "addHealth", minute }),
    health: (query) => ask({ method: "health", query }),
    close: () => thread.close({ method: "close" }),
  };
}
