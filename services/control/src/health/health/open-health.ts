/** Opens the parts of control that deal with the health of destinations. */

import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { OpenCodec } from "@posthaste/contracts/codec";
import { readHealthKey } from "@posthaste/contracts/health-keys";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import type { Freshness } from "@posthaste/core/freshness";
import type { HealthRecord } from "@posthaste/core/health/health-record";
import type { Clock } from "@posthaste/core/time";
import type { HeldPlan } from "@posthaste/dead-letters/replay-store";
import type { Route } from "@posthaste/http-kit/route";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { pause } from "@posthaste/kafka/connection/deadline";
import { createTable, type Table } from "@posthaste/kafka/log/table";
import { createProducer } from "@posthaste/kafka/producer/producer";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { Readiness } from "@posthaste/runtime/admin-server";
import { FlowMeter } from "./flow-meter.ts";
import { HealthBook } from "./health-book.ts";
import { type HealthChange, HealthChanges } from "./health-changes.ts";
import { type Gauges, HealthHistory } from "./health-history.ts";
import { healthRoutes } from "./health-routes.ts";
import { inProcess, viewHealthNow, viewWaiting } from "./health-view.ts";
import { KnownHealth, type KnownHealthParts } from "./known-health.ts";
import { LoggedAttempts } from "./logged-attempts.ts";
import { ProcessClocks } from "./process-clocks.ts";
import { removeGone } from "./remove-gone.ts";
import { seriesRoutes } from "./series-routes.ts";
import { type StatusRoutesParts, statusRoutes } from "./status-routes.ts";

/** The records of a process that was not heard of for this long, in ms, are removed. */
const GONE_MS = 60 * 60_000;
const FORGET_MS = 60_000;
/** How long news of destinations wait for the attempt log after a start, in ms. */
const PAST_MS = 30_000;
/** The time between two looks for changes that came without a record, in ms. */
const LOOK_MS = 2000;

export interface OpenHealthOptions {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly names: TopicNames;
  readonly destinations: ConfigStore<Destination>;
  readonly readModel: ReadModel;
  /** See KnownHealthParts. */
  readonly deadLetters: KnownHealthParts["deadLetters"];
  readonly clock: Clock;
  /** Ends the process. */
  readonly fail: (reason: Error) => void;
}

/** The parts of the status besides health. */
export interface StatusParts {
  readonly readiness: () => Promise<Readiness>;
  readonly plans: () => Iterable<HeldPlan>;
  readonly ingestUrl: string | null;
  readonly answeringAgain: StatusRoutesParts["answeringAgain"];
}

export interface LiveHealth {
  readonly recent: HealthChanges["recent"];
  readonly freshness: () => Freshness;
  /**
   * The destination as it is now; null for a change that a newer one followed, and for a destination that was removed.
   */
  readonly rowOf: (change: HealthChange, offset: number) => object | null;
}

/** The parts that the doctor reads. */
export interface ReportedHealth {
  readonly book: Pick<HealthBook, "processes" | "of">;
  readonly flow: Pick<FlowMeter, "stalled">;
  readonly clocks: Pick<ProcessClocks, "clocks">;
  readonly fresh: () => Freshness;
}

export interface OpenedHealth {
  readonly reportedHealth: ReportedHealth;
  readonly routes: (parts: StatusParts) => readonly Route[];
  readonly known: Pick<KnownHealth, "all" | "recent">;
  /** Resolves once attempts from before the start count, after half a minute at the latest. */
  readonly pastKnown: (signal: AbortSignal) => Promise<void>;
  /** The changes, for the live stream. */
  readonly live: LiveHealth;
  /** The state of the table, for `/readyz`. */
  readonly state: true | string;
  caughtUp(): Promise<void>;
  /** Starts the timers. Call it when all tables have caught up. */
  start(): void;
  /** Removes the records of processes that are gone. One control process at a time does. */
  removeGone(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Resolves when the table is being read. */
export async function openHealth(options: OpenHealthOptions): Promise<OpenedHealth> {
  const { connection, openCodec, names, destinations, readModel, deadLetters, clock, fail } = options;
  const { nowMs } = clock;
  const { decode, prefetch } = await openCodec<HealthRecord>("destination-health");
  const producer = await createProducer(connection, { name: "health", topics: [names.destinationHealth] });
  const history = new HealthHistory({ readModel, gauges: () => gaugesOf(known, book), nowMs, log: connection.log });
  // The table tells of its records before there is a table to ask.
  let read: Table<HealthRecord> | null = null;
  const book: HealthBook = new HealthBook({
    nowMs,
    readToEndMs: () => read?.asOfMs ?? null,
    onCounted: (counted) => history.add(counted),
  });
  const logged = new LoggedAttempts({
    readModel,
    book,
    destinations: () => destinations.values(),
    log: connection.log,
  });
  const known: KnownHealth = new KnownHealth({ book, destinations, readModel, deadLetters, nowMs });
  const changes = new HealthChanges(known, nowMs);
  const clocks = new ProcessClocks(nowMs);
  const flow = new FlowMeter({ connection, names, monotonicMs: clock.monotonicMs });
  const table = await createTable<HealthRecord>(connection, {
    topic: names.destinationHealth,
    ...{ decode, prefetch, clock, onFailure: fail },
    onChange: (key, record) => takeRecord(key, record, { clocks, book, changes }),
  });
  read = table;
  const fresh = () => ({ asOfMs: table.asOfMs, complete: table.state === true });
  const timers: NodeJS.Timeout[] = [];
  return {
    reportedHealth: { book, flow, clocks, fresh },
    known,
    pastKnown: (signal) => Promise.race([logged.whenRead, pause(PAST_MS, signal)]),
    routes: (parts) => [
      ...healthRoutes(known, () => ({ ...fresh(), complete: table.state === true && logged.isRead })),
      ...seriesRoutes({ known, readModel, history, fresh, nowMs }),
      ...statusRoutes({ known, book, flow, readModel, fresh, nowMs, ...parts }),
    ],
    live: liveHealth(changes, known, fresh),
    get state() {
      return table.state;
    },
    caughtUp: () => table.caughtUp(),
    start: () => {
      book.listen();
      clocks.listen();
      history.start();
      flow.start();
      changes.start();
      const look = () => void logged.read().then(() => changes.lookAtAll());
      timers.push(
        setInterval(() => book.forgetOld(), FORGET_MS),
        setInterval(look, LOOK_MS),
      );
    },
    removeGone: (signal) => removeGone(book.silentFor(GONE_MS), { producer, names, log: connection.log }, signal),
    close: async () => {
      for (const timer of timers) clearInterval(timer);
      flow.close();
      await history.close();
      await table.close();
      await producer.close();
    },
  };
}

function takeRecord(
  key: string,
  record: HealthRecord | undefined,
  { clocks, book, changes }: { clocks: ProcessClocks; book: HealthBook; changes: HealthChanges },
): void {
  if (record !== undefined) clocks.see(record);
  book.apply(key, record);
  const { destinationId } = readHealthKey(key);
  if (destinationId !== null) changes.look(destinationId);
}

function liveHealth(changes: HealthChanges, known: KnownHealth, fresh: () => Freshness): LiveHealth {
  return {
    recent: changes.recent,
    freshness: fresh,
    rowOf: (change, offset) => {
      const { destinationId } = change;
      const found = changes.isNewest(change, offset) ? known.get(destinationId) : undefined;
      return found === undefined ? null : viewHealthNow(found, known.recent(destinationId));
    },
  };
}

/** How many deliveries wait for each destination, and how many requests are out to it. */
async function gaugesOf(known: KnownHealth, book: HealthBook): Promise<ReadonlyMap<string, Gauges>> {
  const waiting = (await known.waiting()) ?? new Map();
  const gauges = new Map<string, Gauges>();
  for (const id of new Set([...waiting.keys(), ...book.destinationIds()])) {
    const held = book.of(id);
    const inFlight = held.flatMap(({ urls }) => urls).reduce((sum, url) => sum + url.inFlight, 0);
    const { total } = viewWaiting(waiting.get(id) ?? [], inProcess(held));
    if (total > 0 || inFlight > 0) gauges.set(id, { waiting: total, inFlight });
  }
  return gauges;
}
