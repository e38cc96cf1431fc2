/**
 * The projection of deliveries: each delivery once, with its state; an entry takes up further facts as they come.
 *
 * Owns: that projection, and the numbers of waiting deliveries, by destination and delay.
 * DY1  Attempts, first deferrals and dead letters may come in any order and more than once: the entry of their delivery
 *      comes out the same.
 * DY2  An entry has the time of its delivery's newest fact, so each newer fact moves it to the front.
 * DY3  The waiting deliveries are counted as entries come, change and go: a question costs nothing, however many there
 *      are.
 * DY4  The deliveries of a replay are counted along an index that holds the deliveries of replays alone.
 * DY5  Which waiting delivery is due next, and when the first and the last of them are given up, is read from indexes
 *      that hold only those that wait after an attempt.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeliveryState } from "@posthaste/core/verdict/delivery-state";
import { joinedAmong, type KnownDelivery } from "./delivery-entry.ts";
import { Projection, type ProjectionOptions } from "./projection.ts";
import type { ProjectionEntry } from "./projection-entry.ts";

/** The deliveries of a destination that wait in one retry topic. */
export interface WaitingDeliveries {
  readonly destinationId: string;
  /** `deferred`: only a first deferral of each is known, and so not its retry topic. */
  readonly state: "waiting_retry" | "deferred";
  /** The delay of the retry topic; null for `deferred`. */
  readonly delayMs: number | null;
  readonly count: number;
}

/**
 * The next due time and the deadlines of a destination's deliveries that wait after an attempt, ms since the epoch;
 * null where none waits.
 */
export interface WaitingTimes {
  readonly nextDueMs: number | null;
  readonly firstDeadlineMs: number | null;
  readonly lastDeadlineMs: number | null;
}

/** A delivery of a message, of which only the state is asked for. */
export interface DeliveryOfMessage extends Pick<KnownDelivery, "destinationId" | "sourceId" | "origin" | "state"> {
  /** The time of its newest fact, ms since the epoch. */
  readonly atMs: number;
}

/** The deliveries of a replay that have the same state. */
export interface ReplayedDeliveries {
  readonly replayId: string;
  readonly state: string;
  readonly count: number;
}

/** The replay id in an entry's detail; null for a first sending. */
const REPLAY_ID = "json_extract(detail, '$.replayId')";
/**
 * True of every delivery of a replay, since a text within the detail has its quotes escaped. SQLite looks at it for
 * each entry that comes and goes, and would parse each detail twice to learn the same from `REPLAY_ID`.
 */
const IS_REPLAYED = `instr(detail, '"replayId":"') > 0`;
/** The due time in an entry's detail; null for a delivery that does not wait after an attempt. */
const DUE = "json_extract(detail, '$.dueAtMs')";
/** The deadline in an entry's detail. */
const DEADLINE = "json_extract(detail, '$.deadlineMs')";

/** The columns of a message's deliveries. */
const OF_MESSAGE = `destination_id, kind, time, json_extract(detail, '$.sourceId') AS source,
  json_extract(detail, '$.origin.partition') AS partition, json_extract(detail, '$.origin.offset') AS offset`;

export class DeliveryTable {
  readonly #database: DatabaseSync;
  readonly #replayed: StatementSync;
  readonly #nextDue: StatementSync;
  readonly #deadlines: readonly StatementSync[];
  readonly #name: string;
  readonly #waiting = new Map<string, WaitingDeliveries>();
  readonly projection: Projection;

  constructor(database: DatabaseSync, options: Omit<ProjectionOptions, "onDropped">) {
    this.#database = database;
    this.#name = options.name;
    this.projection = new Projection(database, { ...options, onDropped: (entry) => this.#count(entry, -1) });
    const index = `${options.name}_by_replay`;
    database.exec(`CREATE INDEX IF NOT EXISTS ${index} ON ${options.name} (${REPLAY_ID}, kind) WHERE ${IS_REPLAYED}`);
    this.#replayed = database.prepare(
      `SELECT kind, count(*) AS entries FROM ${options.name} INDEXED BY ${index}
       WHERE ${IS_REPLAYED} AND ${REPLAY_ID} = ? GROUP BY kind`,
    );
    const byDue = `${options.name}_by_due`;
    database.exec(
      `CREATE INDEX IF NOT EXISTS ${byDue} ON ${options.name} (destination_id, ${DUE}) WHERE kind = 'waiting_retry'`,
    );
    this.#nextDue = database.prepare(
      `SELECT ${DUE} AS due FROM ${options.name} INDEXED BY ${byDue}
       WHERE kind = 'waiting_retry' AND destination_id = ? AND ${DUE} >= ? ORDER BY ${DUE} LIMIT 1`,
    );
    const byDeadline = `${options.name}_by_deadline`;
    database.exec(
      `CREATE INDEX IF NOT EXISTS ${byDeadline} ON ${options.name} (destination_id, ${DEADLINE})
       WHERE kind = 'waiting_retry'`,
    );
    this.#deadlines = ["ASC", "DESC"].map((order) =>
      database.prepare(
        `SELECT ${DEADLINE} AS deadline FROM ${options.name} INDEXED BY ${byDeadline}
         WHERE kind = 'waiting_retry' AND destination_id = ? AND ${DEADLINE} > 0 ORDER BY ${DEADLINE} ${order} LIMIT 1`,
      ),
    );
    this.#countAll();
  }

  /** DY1, DY2. */
  add(entries: readonly ProjectionEntry[]): void {
    for (const entry of entries) this.#join(entry);
    this.projection.trim(entries.length);
  }

  /** DY3. */
  waiting(): readonly WaitingDeliveries[] {
    return [...this.#waiting.values()];
  }

  /** DY5; `nextDueMs` is the first due time from `fromMs` on. */
  waitingTimes(destinationId: string, fromMs: number): WaitingTimes {
    const due = this.#nextDue.get(destinationId, fromMs)?.["due"];
    const [first, last] = this.#deadlines.map((each) => each.get(destinationId)?.["deadline"]);
    return { nextDueMs: momentOf(due), firstDeadlineMs: momentOf(first), lastDeadlineMs: momentOf(last) };
  }

  /** The deliveries of a message, each with its state alone, in no order. */
  ofMessage(messageId: string): readonly DeliveryOfMessage[] {
    return this.projection.messages
      .rows(OF_MESSAGE, messageId)
      .map(({ destination_id, kind, time, source, partition, offset }) => ({
        destinationId: String(destination_id),
        sourceId: String(source),
        origin: partition === null ? null : { partition: Number(partition), offset: Number(offset) },
        // The table holds the values that this file wrote.
        state: kind as DeliveryState,
        atMs: Number(time),
      }));
  }

  /** DY4. */
  replayed(replayIds: readonly string[]): readonly ReplayedDeliveries[] {
    return replayIds.flatMap((replayId) =>
      this.#replayed
        .all(replayId)
        .map(({ kind, entries }) => ({ replayId, state: String(kind), count: Number(entries) })),
    );
  }

  #join(entry: ProjectionEntry): void {
    const { messageId, destinationId } = entry;
    const others = this.projection.ofDelivery(messageId, destinationId);
    const both = others.length === 0 ? undefined : joinedAmong(others, entry);
    if (both !== undefined) {
      this.projection.remove(both.held);
      this.#count(both.held, -1);
    }
    const joined = both?.joined ?? entry;
    if (this.projection.insert(joined)) this.#count(joined, 1);
  }

  #count({ destinationId, kind: state, detail }: ProjectionEntry, by: 1 | -1): void {
    if (state !== "waiting_retry" && state !== "deferred") return;
    const delayMs = state === "waiting_retry" ? delayIn(detail) : null;
    const name = `${destinationId} ${delayMs ?? ""}`;
    const count = (this.#waiting.get(name)?.count ?? 0) + by;
    if (count <= 0) this.#waiting.delete(name);
    else this.#waiting.set(name, { destinationId, state, delayMs, count });
  }

  #countAll(): void {
    const rows = this.#database
      .prepare(
        `SELECT destination_id, kind, json_extract(detail, '$.delayMs') AS delay, count(*) AS entries
         FROM ${this.#name} INDEXED BY ${this.#name}_by_kind
         WHERE kind IN ('waiting_retry', 'deferred') GROUP BY destination_id, kind, delay`,
      )
      .all();
    for (const { destination_id: id, kind, delay, entries } of rows) {
      const [destinationId, delayMs, count] = [String(id), delay === null ? null : Number(delay), Number(entries)];
      const state = kind === "deferred" ? "deferred" : "waiting_retry";
      this.#waiting.set(`${destinationId} ${delayMs ?? ""}`, { destinationId, state, delayMs, count });
    }
  }
}

/** The delay in the detail of a waiting delivery: of the fields of that name the entry's own comes first. */
function delayIn(detail: string): number | null {
  const delay = /"delayMs":(\d+|null)/.exec(detail)?.[1];
  return delay === undefined || delay === "null" ? null : Number(delay);
}

function momentOf(column: unknown): number | null {
  return column === undefined ? null : Number(column);
}
