/**
 * One config topic as control writes it: a table to read from, and changes that no concurrent change undoes.
 *
 * Owns: the table of its topic, the changes under way, and through `WrittenRecords` the keys that need repair. Its
 * caller owns the producer.
 *
 * S1  A change is answered when the brokers have it and the table here has applied it.
 * S2  Changes of one key run one at a time in a process. Each starts from the topic's end of that moment.
 * S3  Revisions rise: the next one is above the last that was seen and not below the present time. Its remainder by
 *     `WRITERS` names the process, so that two which write at once never choose the same.
 * S4  Kafka has no compare-and-set, so two processes may write one key at once, each from the same base. Each record
 *     names the revision of its base. The first record in the topic from a base stands; a later one from the same base
 *     is void, for every process alike. Its writer makes the change again from the standing value; where that refuses
 *     the change, it writes the standing value again. Until then every table shows the void record, and so does `get`:
 *     for good where its writer ended in between, until the next change of the key, which begins from the standing
 *     value. Each record that a caller asked for has its entry in the audit, in the same send.
 * S5  Tables ignore a lower revision behind a higher one (a batch that the producer gave up, P5), but compaction would
 *     keep it. A process that sees one writes the newest record again, and answers no further one before its table has
 *     read that.
 * S6  A canary's records are in no answer but that of `hidden`, and no caller changes them.
 */
import { isCanaryId } from "@posthaste/contracts/canary-ids";
import type { Codec } from "@posthaste/contracts/codec";
import { PREVIOUS_REVISION_HEADER, REVISION_HEADER, revisionsOf } from "@posthaste/contracts/headers";
import type { Author } from "@posthaste/core/access/author";
import { PosthasteError } from "@posthaste/core/errors";
import type { Freshness } from "@posthaste/core/freshness";
import { Lanes } from "@posthaste/core/lanes";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import { createTable, type Table } from "@posthaste/kafka/log/table";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import type { AuditTrail } from "./audit-trail.ts";
import type { AuditedFields } from "./audited-fields.ts";
import { LateRecords } from "./late-records.ts";
import { type Applied, WrittenRecords } from "./written-records.ts";

/** How many processes a revision's remainder can tell apart; ms times this stays below 2^53 for 200 years. */
export const WRITERS = 1024;

/**
 * How long control waits for the brokers, in ms: longer than a broker's failure takes, shorter than a client's
 * patience.
 */
export const WRITE_DEADLINE_MS = 10_000;

/** How many times a change is made again before it is refused because other processes change the same key. */
const MAX_ROUNDS = 8;

export interface ConfigRecord {
  readonly id: string;
  readonly revision: number;
}

export interface ConfigStoreOptions<T extends ConfigRecord> {
  readonly topic: string;
  readonly codec: Codec<T>;
  readonly producer: Producer;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1,023, drawn at random when the process starts. */
  readonly writer: number;
  /**
   * Called when the table applied a record of the key, whichever process wrote it, with the record's offset.
   */
  readonly onChange?: (id: string, value: T | undefined, offset: number) => void;
  readonly trail: AuditTrail;
  /** The fields of a value that the audit has. */
  readonly auditedFields: (value: T) => AuditedFields;
}

/**
 * Makes the next value from the current one, `undefined` where there is none; answers `null` to remove it. It may run
 * more than once (S4), and throws to refuse.
 */
export type Change<T> = (current: T | undefined, revision: number) => T | null;

/** Resolves when the table is being read; its values are there when `caughtUp` resolves. */
export async function openConfigStore<T extends ConfigRecord>(
  connection: KafkaConnection,
  options: ConfigStoreOptions<T>,
): Promise<ConfigStore<T>> {
  const { topic, codec } = options;
  const { decode, prefetch } = codec;
  const written = new WrittenRecords<T>();
  const table: Table<T> = await createTable<T>(connection, {
    ...{ topic, decode, prefetch },
    onChange: (id, value, { headers, offset }) => {
      written.handleChange(id, value, revisionsOf(headers));
      options.onChange?.(id, value, offset);
    },
    onStale: (id, revision) => written.handleStale(id, revision),
  });
  return new ConfigStore(options, table, written);
}

export class ConfigStore<T extends ConfigRecord> {
  readonly #options: ConfigStoreOptions<T>;
  readonly #table: Table<T>;
  readonly #written: WrittenRecords<T>;
  readonly #late: LateRecords;
  /** S2. */
  readonly #lanes = new Lanes();

  /** For `openConfigStore`, which joins the three. */
  constructor(options: ConfigStoreOptions<T>, table: Table<T>, written: WrittenRecords<T>) {
    this.#options = options;
    this.#table = table;
    this.#written = written;
    this.#late = new LateRecords(table);
  }

  get(id: string): T | undefined {
    return isCanaryId(id) ? undefined : this.#table.get(id);
  }

  /** S6. */
  hidden(id: string): T | undefined {
    return this.#table.get(id);
  }

  /** As `get`, for an answer that there is no such value (NH1 of late-records.ts). */
  find(id: string): Promise<T | undefined> {
    return this.#late.find(() => this.get(id));
  }

  /** See LateRecords. */
  readLate(): Promise<boolean> {
    return this.#late.read();
  }

  *values(): Iterable<T> {
    for (const [id, value] of this.#table.entries()) if (!isCanaryId(id)) yield value;
  }

  /** For `/readyz`; see Table. */
  get state(): true | string {
    return this.#table.state;
  }

  /** Resolves when every record now in the topic was read. Rejects with `deadline_exceeded`. */
  refresh(timeoutMs = WRITE_DEADLINE_MS): Promise<void> {
    return this.#table.refresh(timeoutMs);
  }

  get freshness(): Freshness {
    return { asOfMs: this.#table.asOfMs, complete: this.#table.state === true };
  }

  async caughtUp(): Promise<void> {
    await this.#table.caughtUp();
    this.#written.repairBy((ids) => this.#repair(ids));
  }

  /**
   * Changes a key. Resolves with its value after the change (S1). Rejects with an error of `change`, or with
   * `deadline_exceeded`. `by`: the author for the audit; null for a change that control makes by itself.
   */
  change(id: string, change: Change<T>, by: Author | null): Promise<T | undefined> {
    return this.#lanes.inTurn(id, () => this.#changeAlone(id, change, by));
  }

  async close(): Promise<void> {
    await this.#table.close();
  }

  /** S4. */
  async #changeAlone(id: string, change: Change<T>, by: Author | null): Promise<T | undefined> {
    const { topic, clock, log, writer } = this.#options;
    await this.#table.refresh(WRITE_DEADLINE_MS);
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const [base, baseRevision] = [this.#written.standing(id), this.#written.standingRevision(id)];
      const revision = nextRevision(clock.nowMs(), this.#table.revisionOf(id) ?? 0, writer);
      const seen = by !== null && isCanaryId(id) ? undefined : base;
      const { next, refusal } = attemptChange(change, seen, revision);
      // After a round of this change, its void record may be the newest: a refusal then writes the standing value.
      if (refusal !== undefined && !this.#written.isVoid(id)) throw refusal.reason;
      const written = refusal === undefined ? (next ?? undefined) : base && { ...base, revision };
      const audited = this.#audited(by, { id, revision }, refusal === undefined ? base : this.#table.get(id), written);
      const { outcome } = await this.#apply(id, written, { revision, base: baseRevision, audited });
      if (outcome !== "standing") {
        log.info({ event: "config_change_repeated", topic, id, round });
        continue;
      }
      if (refusal !== undefined) throw refusal.reason;
      log.info({ event: next === null ? "config_removed" : "config_changed", topic, id, revision });
      return written;
    }
    throw new PosthasteError("deadline_exceeded", `others change ${id} at the same time: try again`, {
      retryable: true,
    });
  }

  /** Writes, and waits until the table here has applied or ignored the record (S1). */
  #apply(id: string, value: T | undefined, written: WrittenWith): Promise<Applied<T>> {
    return this.#written.whileAwaited(id, written.revision, (applied) =>
      withDeadline(
        this.#write(id, value, written).then(() => applied),
        WRITE_DEADLINE_MS,
        "the brokers (the change may still take effect)",
      ),
    );
  }

  #audited(
    by: Author | null,
    { id: target, revision }: { readonly id: string; readonly revision: number },
    before: T | undefined,
    after: T | undefined,
  ): readonly OutgoingRecord[] {
    const { trail, auditedFields } = this.#options;
    const fieldsOf = (value: T | undefined) => (value === undefined ? null : auditedFields(value));
    return trail.recordsOf(by, { target, from: fieldsOf(before), to: fieldsOf(after), revision });
  }

  #write(id: string, value: T | undefined, { revision, base, audited }: WrittenWith): Promise<void> {
    const { topic, codec, producer } = this.#options;
    const record = {
      topic,
      key: id,
      value: value === undefined ? null : codec.encode(value),
      headers: { [REVISION_HEADER]: String(revision), [PREVIOUS_REVISION_HEADER]: String(base) },
    };
    // No caller waits longer, so the producer refuses records while the brokers take nothing, and none pile up.
    return producer.send([record, ...audited], { patienceMs: WRITE_DEADLINE_MS });
  }

  /**
   * S5. Sends the newest record as the table has it: the revision is the same, so it changes nothing anywhere. Over a
   * void record its own writer sends the next one (S4).
   */
  #repair(ids: Iterable<string>): void {
    const { topic, log } = this.#options;
    for (const id of ids) {
      const revision = this.#table.revisionOf(id);
      if (revision === undefined || this.#written.isVoid(id)) continue;
      log.warn({ event: "config_repaired", topic, id, revision });
      const failed = (error: unknown): void => {
        this.#written.repairFailed(id);
        log.error({ event: "config_repair_failed", topic, id, err: error });
      };
      this.#written.repairSent(id, revision);
      try {
        this.#write(id, this.#table.get(id), { revision, base: revision, audited: [] }).catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  }
}

/** The fields that go with a value into its record. */
interface WrittenWith {
  readonly revision: number;
  /** The revision that the record replaces (S4); its own for a repair. */
  readonly base: number;
  /** The audit's records, for the same send. */
  readonly audited: readonly OutgoingRecord[];
}

function attemptChange<T>(
  change: Change<T>,
  base: T | undefined,
  revision: number,
):
  | { readonly next: T | null; readonly refusal?: never }
  | { readonly next?: never; readonly refusal: { readonly reason: unknown } } {
  try {
    return { next: change(base, revision) };
  } catch (reason) {
    return { refusal: { reason } };
  }
}

/** The lowest revision of this writer that is above the last one and not below the present time (S3). */
export function nextRevision(nowMs: number, last: number, writer: number): number {
  const floor = Math.max(nowMs * WRITERS, last + 1);
  const step = (((writer - (floor % WRITERS)) % WRITERS) + WRITERS) % WRITERS;
  return floor + step;
}

/** A process's writer number, from a random number that is at least 0 and below 1. */
export function drawWriter(random: number): number {
  return Math.floor(random * WRITERS);
}
