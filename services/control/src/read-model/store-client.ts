/** The store as the rest of control sees it: the same methods, which the store's thread answers. */
import { Worker } from "node:worker_threads";
import { PosthasteError } from "@posthaste/core/errors";
import { ThreadClient } from "../thread-client.ts";
import type { AlikeCounts, AlikeCountsQuery } from "./alike-counts.ts";
import type { DeadLetterHour, DeadLetterHourQuery, DeadLetterTotals } from "./dead-letter-hours.ts";
import type { DeadLetterRows } from "./dead-letter-row.ts";
import type { DeadLetterRowsQuery, GroupedDeadLetters } from "./dead-letter-rows.ts";
import type { DeliveryOfMessage, ReplayedDeliveries, WaitingDeliveries, WaitingTimes } from "./delivery-table.ts";
import type { HealthOfMinute, HealthQuery, HealthRow } from "./health-table.ts";
import { type PackedProjections, packProjections } from "./packed-entries.ts";
import type { CountQuery, FoundEntries, KindCount, MessageOutcome, ProjectionSearch } from "./projection.ts";
import type { ProjectionCursor } from "./projection-cursor.ts";
import type { ProjectionEntry, ProjectionQuery } from "./projection-entry.ts";
import type { HeldRange, ProjectionName, StoreOptions, StoreStart, Taken } from "./store.ts";

type PackedTaken = Omit<Taken, "entries"> & { readonly entries: PackedProjections };

export type StoreCall =
  | { readonly method: "take"; readonly projection: ProjectionName; readonly taken: PackedTaken }
  | { readonly method: "noteSent"; readonly places: readonly ProjectionCursor[] }
  | { readonly method: "newest"; readonly projection: ProjectionName; readonly query: ProjectionQuery }
  | { readonly method: "search"; readonly projection: ProjectionName; readonly query: ProjectionSearch }
  | { readonly method: "heldDeadLetters" }
  | { readonly method: "deadLetterHours"; readonly query: DeadLetterHourQuery }
  | { readonly method: "deadLetterTotals"; readonly destinationId: string }
  | { readonly method: "groupedDeadLetters" }
  | { readonly method: "deadLetterEvent"; readonly event: string }
  | { readonly method: "deadLetterRows"; readonly query: DeadLetterRowsQuery }
  | { readonly method: "alikeCounts"; readonly query: AlikeCountsQuery }
  | { readonly method: "at"; readonly projection: ProjectionName; readonly places: readonly ProjectionCursor[] }
  | { readonly method: "counts"; readonly projection: ProjectionName; readonly query: CountQuery }
  | { readonly method: "outcomes"; readonly projection: ProjectionName; readonly messageIds: readonly string[] }
  | { readonly method: "deliveriesOf"; readonly messageId: string }
  | { readonly method: "waiting" }
  | { readonly method: "waitingTimes"; readonly destinationId: string; readonly fromMs: number }
  | { readonly method: "replayed"; readonly replayIds: readonly string[] }
  | { readonly method: "healthWrittenToMs" }
  | { readonly method: "addHealth"; readonly minute: HealthOfMinute }
  | { readonly method: "health"; readonly query: HealthQuery }
  | { readonly method: "close" };

/** The questions about the entries, and about the health of destinations. */
export interface StoreQuestions {
  newest(projection: ProjectionName, query: ProjectionQuery): Promise<readonly ProjectionEntry[]>;
  search(projection: ProjectionName, query: ProjectionSearch): Promise<FoundEntries>;
  /** The counts of dead letters by cause and hour. */
  deadLetterHours(query: DeadLetterHourQuery): Promise<readonly DeadLetterHour[]>;
  /** How many dead letters of a destination there are, and how many of them were delivered since. */
  deadLetterTotals(destinationId: string): Promise<DeadLetterTotals>;
  /**
   * The parts of dead letters' rows: what dead letters have in common, the id of an event's name, and the rows of a
   * partition.
   */
  groupedDeadLetters(): Promise<readonly GroupedDeadLetters[]>;
  deadLetterEvent(event: string): Promise<number | null>;
  deadLetterRows(query: DeadLetterRowsQuery): Promise<DeadLetterRows>;
  /** How many dead letters are alike, beside the rows of a few; null where too many rows would be looked at. */
  alikeCounts(query: AlikeCountsQuery): Promise<AlikeCounts | null>;
  /** Notes of the dead letters at these places that a replay sent them long ago (LM3 of dead-letter-mark.ts). */
  noteSent(places: readonly ProjectionCursor[]): Promise<void>;
  /** The entries at these places that the store holds. */
  at(projection: ProjectionName, places: readonly ProjectionCursor[]): Promise<readonly ProjectionEntry[]>;
  counts(projection: ProjectionName, query: CountQuery): Promise<readonly KindCount[]>;
  /** The outcomes of these messages, as far as their entries are held. */
  outcomes(projection: ProjectionName, messageIds: readonly string[]): Promise<readonly MessageOutcome[]>;
  /** The deliveries of a message, each with its state alone. */
  deliveriesOf(messageId: string): Promise<readonly DeliveryOfMessage[]>;
  /** The numbers of waiting deliveries, by destination and retry topic. */
  waiting(): Promise<readonly WaitingDeliveries[]>;
  /**
   * The next due time, from `fromMs` on, and the deadlines of the destination's deliveries that wait after an attempt;
   * null where none waits.
   */
  waitingTimes(destinationId: string, fromMs: number): Promise<WaitingTimes>;
  /** The states of the deliveries of these replays, as far as they are held. */
  replayed(replayIds: readonly string[]): Promise<readonly ReplayedDeliveries[]>;
  /** The end of the newest minute for which the health of destinations is written; null before the first. */
  healthWrittenToMs(): Promise<number | null>;
  addHealth(minute: HealthOfMinute): Promise<void>;
  /** The counts of a destination, by the minute or the quarter of an hour. */
  health(query: HealthQuery): Promise<readonly HealthRow[]>;
}

export interface StoreClient extends StoreQuestions {
  readonly start: StoreStart;
  take(projection: ProjectionName, taken: Taken): Promise<void>;
  heldDeadLetters(): Promise<readonly HeldRange[]>;
  /** Commits the open transaction and ends the thread. */
  close(): Promise<void>;
}

/** Resolves when the store is open. `onFailure`: called when the thread ended without being asked to. */
export async function openStore(options: StoreOptions, onFailure: (reason: Error) => void): Promise<StoreClient> {
  const worker = new Worker(new URL("./store-worker.ts", import.meta.url), { workerData: options });
  const thread = new ThreadClient<StoreCall>(worker, {
    failed: (cause) => new PosthasteError("internal", "the delivery log's database failed", { cause }),
    closed: () => new PosthasteError("closed", "the delivery log is closed"),
    onFailure,
  });
  // `StoreClient` has the type of each method's answer, as has the store behind it.
  const ask = <T>(call: StoreCall): Promise<T> => thread.ask<T>(call);
  return {
    start: await thread.started<StoreStart>(),
    take: (projection, taken) =>
      ask({ method: "take", projection, taken: { ...taken, entries: packProjections(taken.entries) } }),
    noteSent: (places) => ask({ method: "noteSent", places }),
    newest: (projection, query) => ask({ method: "newest", projection, query }),
    search: (projection, query) => ask({ method: "search", projection, query }),
    heldDeadLetters: () => ask({ method: "heldDeadLetters" }),
    deadLetterHours: (query) => ask({ method: "deadLetterHours", query }),
    deadLetterTotals: (destinationId) => ask({ method: "deadLetterTotals", destinationId }),
    groupedDeadLetters: () => ask({ method: "groupedDeadLetters" }),
    deadLetterEvent: (event) => ask({ method: "deadLetterEvent", event }),
    deadLetterRows: (query) => ask({ method: "deadLetterRows", query }),
    alikeCounts: (query) => ask({ method: "alikeCounts", query }),
    at: (projection, places) => ask({ method: "at", projection, places }),
    counts: (projection, query) => ask({ method: "counts", projection, query }),
    outcomes: (projection, messageIds) => ask({ method: "outcomes", projection, messageIds }),
    deliveriesOf: (messageId) => ask({ method: "deliveriesOf", messageId }),
    waiting: () => ask({ method: "waiting" }),
    waitingTimes: (destinationId, fromMs) => ask({ method: "waitingTimes", destinationId, fromMs }),
    replayed: (replayIds) => ask({ method: "replayed", replayIds }),
    healthWrittenToMs: () => ask({ method: "healthWrittenToMs" }),
    addHealth: (minute) => ask({ method: "addHealth", minute }),
    health: (query) => ask({ method: "health", query }),
    close: () => thread.close({ method: "close" }),
  };
}
