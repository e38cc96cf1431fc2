/** The handlers of the operations on deletion requests. */

import { setTimeout as delay } from "node:timers/promises";
import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Author } from "@posthaste/core/access/author";
import type { Destination } from "@posthaste/core/config/destination";
import type { Source } from "@posthaste/core/config/source";
import { countNotifications, notificationsOf } from "@posthaste/core/deletion/deletion";
import { SUPPRESSION_LEASE_MS } from "@posthaste/core/deletion/suppression";
import { type Freshness, mergedFreshness } from "@posthaste/core/freshness";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { DeletionRunner } from "@posthaste/deletions/deletion-runner";
import type { DeletionLine, DeletionStore } from "@posthaste/deletions/deletion-store";
import { type FreshAnswer, freshAnswer } from "@posthaste/http-kit/freshness";
import { packCursor, refusedCursor, unpackCursor } from "@posthaste/http-kit/list-cursor";
import { type Page, type PageQuery, pageFrom } from "@posthaste/http-kit/page";
import { Problem } from "@posthaste/http-kit/problem";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { assertSources } from "../../configuration/sources/source-access.ts";
import { type DeletionInput, toDeletion } from "./deletion-input.ts";
import {
  NOTIFICATION_STATES,
  type NotificationState,
  type NotificationStateName,
  statesOf,
} from "./notification-states.ts";

/** How much longer than the lease an answer waits, in ms, since the timers of two processes do not run alike. */
const LEASE_MARGIN_MS = 250;
/** How many notifications are looked up at a time. */
const COUNT_STEP = 5000;

export interface DeletionHandlersOptions {
  readonly sources: ConfigStore<Source>;
  readonly destinations: ConfigStore<Destination>;
  readonly store: DeletionStore;
  readonly runner: DeletionRunner;
  readonly readModel: ReadModel;
  /** How long suppressions last, in ms; null for good. */
  readonly suppressionMs: number | null;
  readonly clock: Clock;
  readonly log: Log;
}

/** The answer to a request. */
export interface RequestedDeletion {
  readonly id: string;
  readonly notifications: number;
  /** How many users times sources are suppressed; absent for a request that suppresses nobody. */
  readonly suppressed?: number;
}

export type NotificationCounts = Readonly<Record<NotificationStateName, number>>;

export class DeletionHandlers {
  readonly #options: DeletionHandlersOptions;

  constructor(options: DeletionHandlersOptions) {
    this.#options = options;
  }

  /**
   * Carries out a request. Resolves when the brokers have all of it and, for a request that suppresses, when no process
   * that does not know of it still sends.
   */
  async create(input: DeletionInput, by: Author): Promise<RequestedDeletion> {
    const { sources, destinations, store, runner, suppressionMs, clock, log } = this.#options;
    if (input.sourceIds !== undefined) await assertSources(input.sourceIds, sources);
    const context = { sources: sources.values(), destinations: destinations.values() };
    const deletion = toDeletion(input, { ...context, suppressionMs, nowMs: clock.nowMs() });
    const before = await store.record(deletion, by);
    if (before === null) {
      log.info({ event: "deletion_requested", deletionId: deletion.id, users: deletion.userIds.length });
      await runner.run(deletion);
    } else if (before.state === "requested") await runner.runRecorded(deletion.id);
    const line = store.get(deletion.id) ?? { ...deletion, users: deletion.userIds.length };
    if (line.suppress) await this.#untilNobodySends(line.id);
    return answerOf(line);
  }

  /** Newest first. */
  list(query: PageQuery): Page<DeletionLine> & FreshAnswer {
    const { store } = this.#options;
    return { ...pageFrom(store.values(), query, "newest_first"), ...freshAnswer(store.freshness) };
  }

  /** Rejects with the Problem `not_found`. */
  async find(id: string): Promise<DeletionLine> {
    const line = await this.#options.store.find(id);
    if (line === undefined) throw new Problem("not_found", `there is no deletion request ${id}`);
    return line;
  }

  /** The freshness of the known notifications, from the delivery log and the dead letters. */
  get freshness(): Freshness {
    const { readModel } = this.#options;
    return mergedFreshness(readModel.freshness("attempts"), readModel.freshness("dead_letters"));
  }

  async count(line: DeletionLine): Promise<NotificationCounts> {
    const counts = Object.fromEntries(NOTIFICATION_STATES.map((state) => [state, 0])) as Record<
      NotificationStateName,
      number
    >;
    const total = countNotifications(line.users, line.receivers);
    if (total === 0) return counts;
    const deletion = await this.#options.store.read(line.id);
    for (let from = 0; from < total; from += COUNT_STEP) {
      for (const { state } of await this.#statesOf(notificationsOf(deletion, from, from + COUNT_STEP)))
        counts[state] += 1;
    }
    return counts;
  }

  /** Throws the Problem `not_found`, and `invalid_input` for a cursor of something else. */
  async notifications(id: string, { limit, cursor }: PageQuery): Promise<Page<NotificationState>> {
    const line = await this.find(id);
    const from = cursor === undefined ? 0 : numberOf(cursor, id);
    const total = countNotifications(line.users, line.receivers);
    if (from >= total) return { data: [], nextCursor: null };
    const deletion = await this.#options.store.read(id);
    const data = await this.#statesOf(notificationsOf(deletion, from, from + limit));
    const next = from + data.length;
    return { data: [...data], nextCursor: next < total ? cursorOf(next, id) : null };
  }

  #statesOf(notifications: ReturnType<typeof notificationsOf>): Promise<readonly NotificationState[]> {
    const { readModel, destinations } = this.#options;
    return statesOf(readModel, notifications, (id) => destinations.get(id)?.settle === "each");
  }

  /**
   * V6 of suppression-check.ts in delivery: waits until no process sends that does not know of the suppressions. They
   *    were acknowledged before the request counts as sent.
   */
  async #untilNobodySends(id: string): Promise<void> {
    // The wait goes by this process's own clock. The clock of the process that carried out the request may differ by
    // any time.
    const restMs = SUPPRESSION_LEASE_MS + LEASE_MARGIN_MS - this.#options.store.sentForMs(id);
    if (restMs > 0) await delay(restMs, undefined, { ref: false });
  }
}

function answerOf(
  line: Pick<DeletionLine, "id" | "users" | "receivers" | "suppress" | "sourceIds">,
): RequestedDeletion {
  const { id, users, receivers, suppress, sourceIds } = line;
  const notifications = countNotifications(users, receivers);
  return { id, notifications, ...(suppress ? { suppressed: users * sourceIds.length } : {}) };
}

/** Where a page of a request's notifications ended. The cursor is the request's own. */
function cursorOf(number: number, id: string): string {
  return packCursor(number, id);
}

function numberOf(cursor: string, id: string): number {
  const [number, named] = unpackCursor<[string, string]>(cursor, /^(\d{1,9}):(.+)$/s);
  if (named !== id) throw refusedCursor();
  return Number(number);
}
