/**
 * Carries out deletion requests that are on record: first the suppressions, then the notifications, and then it marks
 * the record as sent.
 *
 * Owns: the requests that this process is carrying out.
 * E1  A request can be carried out again from its start, whatever ended a process. Its suppressions are the same
 *     records and its notifications have the same message ids, so the router and receivers know the repeats.
 * E2  A process works on a request once at a time; a second call for it waits for the same work.
 */

import { WRITE_DEADLINE_MS } from "@posthaste/configuration/config-store";
import type { Codec } from "@posthaste/contracts/codec";
import { type Deletion, notificationId } from "@posthaste/core/deletion/deletion";
import type { Event } from "@posthaste/core/event/event";
import { plainEvent } from "@posthaste/core/event/plain-event";
import type { Log } from "@posthaste/core/log";
import { eventKey } from "@posthaste/core/routing/partition-key";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import type { DeletionStore } from "./deletion-store.ts";
import type { SuppressionWriter } from "./suppression-writer.ts";

/** How many events are sent at a time, each time with a deadline of its own. */
const STEP = 1000;
export interface DeletionRunnerOptions {
  readonly store: Pick<DeletionStore, "read" | "markSent">;
  readonly suppressions: Pick<SuppressionWriter, "suppress">;
  readonly producer: Producer;
  readonly eventsTopic: string;
  readonly eventCodec: Codec<Event>;
  readonly log: Log;
}

export class DeletionRunner {
  readonly #options: DeletionRunnerOptions;
  readonly #running = new Map<string, Promise<void>>();

  constructor(options: DeletionRunnerOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the brokers have all of it. Rejects with `deadline_exceeded`; the request is then left for the next
   * look.
   */
  run(deletion: Deletion): Promise<void> {
    return this.#once(deletion.id, () => this.#run(deletion));
  }

  /** Carries out a request that is on record, unless that was done by now. */
  runRecorded(id: string): Promise<void> {
    return this.#once(id, async () => {
      const deletion = await this.#options.store.read(id);
      if (deletion.state === "requested") await this.#run(deletion);
    });
  }

  /** True while this process carries out the request. */
  isRunning(id: string): boolean {
    return this.#running.has(id);
  }

  /** E2 */
  #once(id: string, work: () => Promise<void>): Promise<void> {
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    const run = work().finally(() => this.#running.delete(id));
    this.#running.set(id, run);
    return run;
  }

  async #run(deletion: Deletion): Promise<void> {
    const { store, suppressions, log } = this.#options;
    const { id, suppress, userIds, sourceIds, createdAtMs, suppressionEndsAtMs } = deletion;
    if (suppress) {
      const common = { deletionId: id, suppressedAtMs: createdAtMs, endsAtMs: suppressionEndsAtMs };
      await suppressions.suppress(
        sourceIds.flatMap((sourceId) => userIds.map((userId) => ({ sourceId, userId, ...common }))),
      );
    }
    await this.#notify(deletion);
    await store.markSent(deletion);
    log.info({ event: "deletion_sent", deletionId: id, users: userIds.length, suppress });
  }

  async #notify(deletion: Deletion): Promise<void> {
    const { producer } = this.#options;
    const { userIds } = deletion;
    const usersAtATime = Math.max(1, Math.floor(STEP / Math.max(1, deletion.receivers.length)));
    for (let from = 0; from < userIds.length; from += usersAtATime) {
      const records = userIds
        .slice(from, from + usersAtATime)
        .flatMap((userId, index) => this.#eventsOf(deletion, userId, from + index));
      if (records.length === 0) return;
      const sent = producer.send(records, { patienceMs: WRITE_DEADLINE_MS });
      await withDeadline(sent, WRITE_DEADLINE_MS, "the brokers (the request is carried out when they do)");
    }
  }

  /** The events of one user, one for each source with a destination to notify. */
  #eventsOf({ id, createdAtMs, receivers }: Deletion, userId: string, index: number): readonly OutgoingRecord[] {
    const { eventsTopic, eventCodec } = this.#options;
    return receivers.map(({ sourceId }) => {
      const messageId = notificationId(id, sourceId, index);
      const event = plainEvent({ messageId, sourceId, type: "delete", userId, nowMs: createdAtMs });
      return { topic: eventsTopic, key: eventKey(sourceId, event), value: eventCodec.encode(event) };
    });
  }
}
