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
 * S4  Kafka has no compare-and-set, so two processes may write one key at once, each from the same base. Both read the
 *     topic's order, which tells each what it wrote over; it then makes its change again on top of that, so that
 *     neither change is lost. A change whose record came second with the lower revision was ignored by every table; it
 *     is made again too. Two cases are not covered: a process that ends between its two records, and a process whose
 *     next change of the key comes before the other has made its own again. Callers that must know send the revision
 *     that they changed from. Each record that a caller asked for has its entry in the audit, in the same send.
 * S5  Tables ignore a lower revision behind a higher one (a batch that the producer gave up, P5), but compaction would
 *     keep it. A process that sees one writes the newest record again, and answers no further one before its table has
 *     read that.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { PosthasteError } from "@posthaste/core/errors";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import { createTable, type Table } from "@posthaste/kafka/log/table";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import type { AuditTrail } from "../audit/audit-trail.ts";
import type { AuditedFields } from "../audit/audited-fields.ts";
import type { Author } from "../http/caller.ts";
import { type Freshness, freshAsOf } from "../http/freshness.ts";
import { Lanes } from "../lanes.ts";
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
  /** Called when the table applied a record of the key, whichever process wrote it, with the record's offset. */
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
    onChange: (id, value, offset) => {
      written.handleChange(id, value, () => table.revisionOf(id));
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
    for (const [, value] of this.#table.entries()) yield value;
  }

  /** For `/readyz`; see Table. */
  get state(): true | string {
    return this.#table.state;
  }

  /** Resolves when what stands in the topic now was read. Rejects with `deadline_exceeded`. */
  refresh(timeoutMs = WRITE_DEADLINE_MS): Promise<void> {
    return this.#table.refresh(timeoutMs);
  }

  get freshness(): Freshness {
    return freshAsOf(this.#table.asOfMs, this.#table.state === true);
  }

  async caughtUp(): Promise<void> {
    await this.#table.caughtUp();
    this.#written.repairBy((ids) => this.#repair(ids));
  }

  /**
   * Changes a key. Resolves with its value after the change (S1). Rejects with what `change` threw, or
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
    /** The value that the change is made from. */
    let base = this.#table.get(id);
    /** The value that the next record should replace: the base, or this process's own record of the round before. */
    let expected = base;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const revision = nextRevision(clock.nowMs(), this.#table.revisionOf(id) ?? 0, writer);
      const { next, refusal } = attemptChange(change, base, revision);
      if (refusal !== undefined) {
        // This change's last round wrote over the other process's record, which refuses the change: it is put back.
        if (expected !== base) {
          const back = base === undefined ? null : { ...base, revision };
          await this.#apply(id, back, { revision, audited: this.#audited(by, { id, revision }, expected, base) });
        }
        throw refusal.reason;
      }
      const audited = this.#audited(by, { id, revision }, base, next ?? undefined);
      const applied = await this.#apply(id, next, { revision, audited });
      const written = next ?? undefined;
      if (applied.outcome === "applied" && applied.over?.revision === expected?.revision) {
        log.info({ event: next === null ? "config_removed" : "config_changed", topic, id, revision });
        return written;
      }
      base = applied.outcome === "applied" ? applied.over : this.#table.get(id);
      expected = applied.outcome === "applied" ? written : base;
      log.info({ event: "config_change_repeated", topic, id, round });
    }
    throw new PosthasteError("deadline_exceeded", `others change ${id} at the same time: try again`, {
      retryable: true,
    });
  }

  /** Writes, and waits until the table here has applied or ignored the record (S1). */
  #apply(id: string, value: T | null, written: WrittenWith): Promise<Applied<T>> {
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

  #write(id: string, value: T | null, { revision, audited }: WrittenWith): Promise<void> {
    const { topic, codec, producer } = this.#options;
    const record = {
      topic,
      key: id,
      value: value === null ? null : codec.encode(value),
      headers: { [REVISION_HEADER]: String(revision) },
    };
    // No caller waits longer, so the producer refuses records while the brokers take nothing, and none pile up.
    return producer.send([record, ...audited], { patienceMs: WRITE_DEADLINE_MS });
  }

  /** S5. Sends the newest record as the table has it: the revision is the same, so it changes nothing anywhere. */
  #repair(ids: Iterable<string>): void {
    const { topic, log } = this.#options;
    for (const id of ids) {
      const revision = this.#table.revisionOf(id);
      if (revision === undefined) continue;
      log.warn({ event: "config_repaired", topic, id, revision });
      const failed = (error: unknown): void => {
        this.#written.repairFailed(id);
        log.error({ event: "config_repair_failed", topic, id, err: error });
      };
      this.#written.repairSent(id, revision);
      try {
        this.#write(id, this.#table.get(id) ?? null, { revision, audited: [] }).catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  }
}

/** What is written with a value. */
interface WrittenWith {
  readonly revision: number;
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
