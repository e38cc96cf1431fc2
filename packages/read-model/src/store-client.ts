/** The store for other threads: the same methods, each a call to the store's thread. */
import { Worker } from "node:worker_threads";
import { PosthasteError } from "@posthaste/core/errors";
import type { DeadLetterHour, DeadLetterHourQuery, DeadLetterTotals } from "./dead-letter-hours.ts";
import type { DeadLetterRows, DeadLetterRowsQuery, GroupedDeadLetters } from "./dead-letter-rows.ts";
import type { DeliveryOfMessage, ReplayedDeliveries, WaitingDeliveries, WaitingTimes } from "./delivery-table.ts";
import type { GroupCounts, GroupCountsQuery } from "./group-counts.ts";
import type { HealthOfMinute, HealthQuery, HealthRow } from "./health-table.ts";
import type { LastAttempts } from "./last-attempts.ts";
import { type PackedProjections, packProjections } from "./packed-entries.ts";
import type { CountQuery, FoundEntries, KindCount, MessageOutcome, ProjectionSearch } from "./projection.ts";
import type { ProjectionCursor, ProjectionEntry, ProjectionQuery } from "./projection-entry.ts";
import type { NewestReceipt, ReceivedEntries, ReceivedQuery } from "./received-events.ts";
import type { HeldRange, ProjectionName, ReceivedProjection, StoreOptions, StoreStart, Taken } from "./store.ts";
import { type MethodCall, remoteMethods, ThreadClient } from "./thread-client.ts";

export type PackedTaken = Omit<Taken, "entries"> & { readonly entries: PackedProjections };

/** The methods that the thread answers with no more than the store's own result. */
export const STORE_QUESTIONS = [
  ...([
    "noteSent",
    "newest",
    "search",
    "deadLetterHours",
    "deadLetterTotals",
    "groupedDeadLetters",
    "deadLetterEvent",
  ] as const),
  ...([
    "deadLetterRows",
    "groupCounts",
    "at",
    "counts",
    "outcomes",
    "deliveriesOf",
    "waiting",
    "waitingTimes",
  ] as const),
  ...(["replayed", "healthWrittenToMs", "addHealth", "health", "lastAttempts", "received", "newestReceipts"] as const),
] as const satisfies readonly (keyof StoreQuestions)[];

export type StoreMethod = (typeof STORE_QUESTIONS)[number] | "take" | "heldDeadLetters" | "close";
export type StoreCall = MethodCall<StoreMethod>;

/** The questions about the entries, and about the health of destinations. */
export interface StoreQuestions {
  newest(projection: ProjectionName, query: ProjectionQuery): Promise<readonly ProjectionEntry[]>;
  search(projection: ProjectionName, query: ProjectionSearch): Promise<FoundEntries>;
  /** The counts of dead letters by cause and hour. */
  deadLetterHours(query: DeadLetterHourQuery): Promise<readonly DeadLetterHour[]>;
  /** How many dead letters of a destination there are, and how many of them were delivered since. */
  deadLetterTotals(destinationId: string): Promise<DeadLetterTotals>;
  /**
   * The parts of dead letters' rows: the groups with their common fields, the id of an event's name, and the rows of a
   * partition.
   */
  groupedDeadLetters(): Promise<readonly GroupedDeadLetters[]>;
  deadLetterEvent(event: string): Promise<number | null>;
  deadLetterRows(query: DeadLetterRowsQuery): Promise<DeadLetterRows>;
  /** The sizes of groups of dead letters, beside the rows of a few; null where too many rows would be looked at. */
  groupCounts(query: GroupCountsQuery): Promise<GroupCounts | null>;
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
  /** Entries in the order in which their events were received, the newest first. */
  received(projection: ReceivedProjection, query: ReceivedQuery): Promise<ReceivedEntries>;
  /** See `ReceivedEvents`. */
  newestReceipts(
    projection: ReceivedProjection,
    messageIds: readonly string[],
    texts: readonly string[],
    untilMs: number,
  ): Promise<readonly NewestReceipt[]>;
  /** The newest attempts of each of these destinations. */
  lastAttempts(destinationIds: readonly string[]): Promise<readonly LastAttempts[]>;
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
  const questions = remoteMethods(STORE_QUESTIONS, (call) => thread.ask(call));
  return {
    // The worker answers each question with the store's return value.
    ...(questions as unknown as StoreQuestions),
    start: await thread.started<StoreStart>(),
    take: (projection, taken) => {
      const packed: PackedTaken = { ...taken, entries: packProjections(taken.entries) };
      return thread.ask({ method: "take", args: [projection, packed] });
    },
    heldDeadLetters: () => thread.ask({ method: "heldDeadLetters", args: [] }),
    close: () => thread.close({ method: "close", args: [] }),
  };
}
