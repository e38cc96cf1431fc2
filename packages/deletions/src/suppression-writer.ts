/**
 * Writes suppressions: one record for each user and source, and a tombstone when it ends.
 *
 * Owns nothing: its caller owns the producer, and the table by which every process knows the suppressions.
 * - A call resolves when the brokers have all of it and the table here has read it.
 * SP2  Revisions rise, as in the config topics (S3 of config-store.ts): an older write that comes late changes nothing,
 *      and the newest record is written again (`rewrite`), since compaction would keep the older one.
 */

import { nextRevision, WRITE_DEADLINE_MS } from "@posthaste/configuration/config-store";
import type { Codec } from "@posthaste/contracts/codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { type Suppression, suppressionKey } from "@posthaste/core/deletion/suppression";
import type { Clock } from "@posthaste/core/time";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import type { KeyRecord } from "@posthaste/kafka/log/key-table";
import type { SuppressedUsersTable } from "@posthaste/kafka/log/suppressed-users";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";

/** How many records are sent at a time, each time with a deadline of its own. */
const STEP = 1000;

export interface SuppressionWriterOptions {
  readonly topic: string;
  readonly codec: Codec<Suppression>;
  readonly producer: Producer;
  readonly suppressed: Pick<SuppressedUsersTable, "revisionOf" | "refresh">;
  readonly clock: Clock;
  /** See ConfigStoreOptions. */
  readonly writer: number;
}

/** A user of a source. */
export type SuppressedUser = Pick<Suppression, "sourceId" | "userId">;

export class SuppressionWriter {
  readonly #options: SuppressionWriterOptions;

  constructor(options: SuppressionWriterOptions) {
    this.#options = options;
  }

  async suppress(suppressions: readonly Suppression[]): Promise<void> {
    const { codec } = this.#options;
    await this.#write(suppressions, (suppression) => codec.encode(suppression));
  }

  /** Ends the suppressions of users. `audited` is written in the same send. */
  async end(users: readonly SuppressedUser[], audited: readonly OutgoingRecord[]): Promise<void> {
    if (users.length > 0) await this.#write(users, () => null, audited);
  }

  /**
   * Ends suppressions that were found to be over, each with the next revision after the record that was found, so that
   * anything written since stays in force.
   */
  async endFound(found: readonly { readonly key: string; readonly revision: number }[]): Promise<void> {
    await this.#send(found.map(({ key, revision }) => this.#record(key, null, revision + 1)));
  }

  /** SP2. Nobody waits for this: a record that is not written now is found again at the next start. */
  rewrite({ key, value, revision }: KeyRecord): Promise<void> {
    return this.#options.producer.send([this.#record(key, value, revision)], { patienceMs: WRITE_DEADLINE_MS });
  }

  async #write<T extends SuppressedUser>(
    users: readonly T[],
    encode: (user: T) => Buffer | null,
    audited: readonly OutgoingRecord[] = [],
  ): Promise<void> {
    const { suppressed, clock, writer } = this.#options;
    const nowMs = clock.nowMs();
    const records = users.map((user) => {
      const key = suppressionKey(user.sourceId, user.userId);
      return this.#record(key, encode(user), nextRevision(nowMs, suppressed.revisionOf(key) ?? 0, writer));
    });
    await this.#send([...audited, ...records]);
  }

  async #send(records: readonly OutgoingRecord[]): Promise<void> {
    const { producer, suppressed } = this.#options;
    for (let from = 0; from < records.length; from += STEP) {
      const step = producer.send(records.slice(from, from + STEP), { patienceMs: WRITE_DEADLINE_MS });
      await withDeadline(step, WRITE_DEADLINE_MS, "the brokers (suppressions may still take effect)");
    }
    await suppressed.refresh(WRITE_DEADLINE_MS);
  }

  #record(key: string, value: Buffer | null, revision: number): OutgoingRecord {
    return { topic: this.#options.topic, key, value, headers: { [REVISION_HEADER]: String(revision) } };
  }
}
