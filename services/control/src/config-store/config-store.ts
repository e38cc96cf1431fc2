/**
 * One config topic as control writes it: a table to read from, and changes that nobody's other change undoes.
 *
 * Owns: the table of its topic, the changes under way, and by `WrittenRecords` the keys that want repair. The producer
 * is the caller's.
 *
 * S1  A change is answered when the brokers have it and the table here has applied it.
 * S2  Changes of one key run one at a time in a process. Each starts from the topic's present end.
 * S3  Revisions rise: the next one is above the last seen and not below now. Its remainder by `WRITERS` names the
 *     process, so two that write at once never choose the same.
 * S4  Kafka has no compare-and-set, so two processes may write one key at once, each from the same base. The topic's
 *     order, which both read, then tells each what it wrote over: it makes its change again on top of that, so that
 *     neither change is lost. A change whose record came second and lower was ignored by every table; it is made again
 *     too. What this does not cover: a process that ends between its two records, and one whose next change of the key
 *     comes before the other has made its own again. Callers that must know send the revision that they changed from.
 *     Each record that somebody asked for has its entry in the audit, in the same send.
 * S5  A lower revision below a higher one (a batch that the producer gave up, P5) is ignored by tables, but compaction
 *     would keep it. Who sees one writes the newest again, and no more of them before its table comes to that.
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

/** How many processes can be told apart by a revision's remainder; ms times this stays below 2^53 for 200 years. */
export const WRITERS = 1024;

/** What control may wait for: longer than a broker's failure takes, shorter than a client's patience. */
export const WRITE_DEADLINE_MS = 10_000;

/** More processes at odds over one key than this, and the change is refused. */
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
  /** A record of the key was applied, of whatever process, and where it stands. */
  readonly onChange?: (id: string, value: T | undefined, offset: number) => void;
  readonly trail: AuditTrail;
  /** What of a value stands in the audit. */
  readonly auditedFields: (value: T) => AuditedFields;
}

/**
 * Makes the next value from the present one, `undefined` where there is none; `null` removes. It may run more than once
 * (S4), and throws to refuse.
 */
export type Change<T> = (current: T | undefined, revision: number) => T | null;

/** Resolves when the store's table is being read; its values are there when `caughtUp` resolves. */
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

  /** As `get`, for an answer that says that there is none (NH1). */
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
   * Resolves with what the key holds after the change (S1). Rejects with what `change` threw, or `deadline_exceeded`.
   * `by` stands in the audit; null for what control does by itself.
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
    /** What the change is made on. */
    let base = this.#table.get(id);
    /** What the next record should find in the table: the base, or our own record of the round before. */
    let expected = base;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const revision = nextRevision(clock.nowMs(), this.#table.revisionOf(id) ?? 0, writer);
      const { next, refusal } = attemptChange(change, base, revision);
      if (refusal !== undefined) {
        // Our round before wrote over the other's record, to which the answer is no: put it back.
        if (expected !== base) {
          const back = base === undefined ? null : { ...base, revision };
          await this.#apply(id, back, { revision, audited: this.#audited(by, id, expected, base) });
        }
        throw refusal.reason;
      }
      const audited = this.#audited(by, id, base, next ?? undefined);
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

  /** Writes and waits until the table here has come to the record (S1). */
  #apply(id: string, value: T | null, written: WrittenWith): Promise<Applied<T>> {
    return this.#written.whileAwaited(id, written.revision, (applied) =>
      withDeadline(
        this.#write(id, value, written).then(() => applied),
        WRITE_DEADLINE_MS,
        "the brokers (the change may still take effect)",
      ),
    );
  }

  #audited(by: Author | null, target: string, from: T | undefined, to: T | undefined): readonly OutgoingRecord[] {
    const { trail, auditedFields } = this.#options;
    const fieldsOf = (value: T | undefined) => (value === undefined ? null : auditedFields(value));
    return by === null ? [] : trail.recordsOf(by, { target, from: fieldsOf(from), to: fieldsOf(to) });
  }

  #write(id: string, value: T | null, { revision, audited }: WrittenWith): Promise<void> {
    const { topic, codec, producer } = this.#options;
    const record = {
      topic,
      key: id,
      value: value === null ? null : codec.encode(value),
      headers: { [REVISION_HEADER]: String(revision) },
    };
    // Nobody waits longer for it, so what comes while the brokers take nothing is refused and piles up nowhere.
    return producer.send([record, ...audited], { patienceMs: WRITE_DEADLINE_MS });
  }

  /** S5. What it sends is the newest record as it is held: the same revision, so it changes nothing anywhere. */
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

/** What goes with a value that is written. */
interface WrittenWith {
  readonly revision: number;
  /** For the same send. */
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

/** The lowest revision of this writer that is above the last one and not below now (S3). */
export function nextRevision(nowMs: number, last: number, writer: number): number {
  const floor = Math.max(nowMs * WRITERS, last + 1);
  const step = (((writer - (floor % WRITERS)) % WRITERS) + WRITERS) % WRITERS;
  return floor + step;
}

/** A process's writer number from a random in [0, 1). */
export function drawWriter(random: number): number {
  return Math.floor(random * WRITERS);
}
