/**
 * Deletion requests as records of their compacted topic. Memory has a line for each, without its user ids, of which
 * there may be millions: these are read from the topic when they are needed.
 *
 * Owns: the table of lines, the places of the records of each request, and the writes under way. Its caller owns the
 * producer.
 * X1  A request is on record before any of it is carried out, and its id belongs to the content that came first: the
 *     same content again is the same request, any other content under the id is refused.
 * X2  When two processes put one id on record at once with different contents, one is refused. The process that wrote
 *     over the other's record sees that in the topic's order, puts the record back unless the other has written again
 *     since, and refuses its own. Until that is done, or was long ago, no process carries out the record
 *     (`isContested`).
 */

import type { AuditTrail } from "@posthaste/configuration/audit-trail";
import type { AuditedFields } from "@posthaste/configuration/audited-fields";
import { nextRevision, WRITE_DEADLINE_MS } from "@posthaste/configuration/config-store";
import { LateRecords } from "@posthaste/configuration/late-records";
import { type Applied, WrittenRecords } from "@posthaste/configuration/written-records";
import type { Codec } from "@posthaste/contracts/codec";
import { REVISION_HEADER, revisionsOf } from "@posthaste/contracts/headers";
import type { Author } from "@posthaste/core/access/author";
import type { Deletion } from "@posthaste/core/deletion/deletion";
import type { Freshness } from "@posthaste/core/freshness";
import { Lanes } from "@posthaste/core/lanes";
import type { Clock } from "@posthaste/core/time";
import { Problem } from "@posthaste/http-kit/problem";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import { readRecord } from "@posthaste/kafka/log/read-record";
import { createTable, type Table } from "@posthaste/kafka/log/table";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { RecordPlaces } from "./record-places.ts";
import { SentMoments } from "./sent-moments.ts";

/** A request as memory has it: with the number of its user ids in place of the ids. */
export interface DeletionLine extends Omit<Deletion, "userIds"> {
  readonly users: number;
}

export interface DeletionStoreOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly codec: Codec<Deletion>;
  readonly producer: Producer;
  readonly trail: AuditTrail;
  readonly clock: Clock;
  /** See ConfigStoreOptions. */
  readonly writer: number;
  /** Called when the topic cannot be followed any more. */
  readonly onFailure: (reason: Error) => void;
}

/** Resolves when the table is being read; its lines are there when `caughtUp` resolves. */
export async function openDeletionStore(options: DeletionStoreOptions): Promise<DeletionStore> {
  const { connection, topic, codec, onFailure } = options;
  const written = new WrittenRecords<DeletionLine>();
  const places = new RecordPlaces(options.clock);
  const sent = new SentMoments(options.clock);
  const table = await createTable<DeletionLine>(connection, {
    ...{ topic, onFailure },
    prefetch: codec.prefetch,
    decode: (bytes) => lineOf(codec.decode(bytes)),
    onChange: (id, line, { headers, offset }) => {
      if (line?.state === "sent") sent.note(id);
      places.note(id, line?.content ?? null, offset);
      written.handleChange(id, line, revisionsOf(headers));
    },
    onStale: (id, revision) => written.handleStale(id, revision),
  });
  return new DeletionStore(options, { table, written, places, sent });
}

interface SentWith {
  readonly revision: number;
  /** The audit's records, for the same send. */
  readonly audited: readonly OutgoingRecord[];
}

interface DeletionStoreParts {
  readonly table: Table<DeletionLine>;
  readonly written: WrittenRecords<DeletionLine>;
  readonly places: RecordPlaces;
  readonly sent: SentMoments;
}

export class DeletionStore {
  readonly #options: DeletionStoreOptions;
  readonly #parts: DeletionStoreParts;
  /** The lanes in which the writes of a request are made one after the other. */
  readonly #lanes = new Lanes();
  readonly #late: LateRecords;

  /** For `openDeletionStore`. */
  constructor(options: DeletionStoreOptions, parts: DeletionStoreParts) {
    this.#options = options;
    this.#parts = parts;
    this.#late = new LateRecords(parts.table);
  }

  get(id: string): DeletionLine | undefined {
    return this.#parts.table.get(id);
  }

  /** As `get`, for an answer that there is no such request (NH1 of late-records.ts). */
  find(id: string): Promise<DeletionLine | undefined> {
    return this.#late.find(() => this.get(id));
  }

  *values(): Iterable<DeletionLine> {
    for (const [, line] of this.#parts.table.entries()) yield line;
  }

  /** Whether a request was written over another's record, which may be put back at any moment (X2). */
  isContested(id: string): boolean {
    return this.#parts.places.isContested(id);
  }

  /** How long this process has known for certain that a request was carried out, in ms. */
  sentForMs(id: string): number {
    return this.#parts.sent.forMs(id);
  }

  /** For `/readyz`; see Table. */
  get state(): true | string {
    return this.#parts.table.state;
  }

  get freshness(): Freshness {
    const { table } = this.#parts;
    return { asOfMs: table.asOfMs, complete: table.state === true };
  }

  async caughtUp(): Promise<void> {
    const { table, written } = this.#parts;
    await table.caughtUp();
    written.repairBy((ids) => {
      for (const id of ids) this.#repair(id);
    });
  }

  /**
   * Puts a request on record and answers null, or answers the request that is on record under its id (X1). Throws a
   * Problem when that has another content.
   */
  record(deletion: Deletion, by: Author): Promise<DeletionLine | null> {
    const { id } = deletion;
    const audited = this.#options.trail.recordsOf(by, { target: id, from: null, to: deletionAudit(deletion) });
    return this.#lanes.inTurn(id, async () => {
      const { table, places } = this.#parts;
      await table.refresh(WRITE_DEADLINE_MS);
      const held = table.get(id);
      if (held !== undefined && places.isContested(id)) {
        throw new Problem("unavailable", `another request has the id ${id} at the same moment: try again`);
      }
      if (held !== undefined) return sameRequest(held, deletion);
      const applied = await this.#write(id, this.#options.codec.encode(deletion), audited);
      const other = applied.outcome === "standing" ? applied.over : table.get(id);
      if (other === undefined) return null;
      // X2.
      const overwritten = places.overwritten(id, deletion.content);
      if (applied.outcome === "standing" && other.content !== deletion.content && overwritten !== null) {
        const bytes = await this.#bytesAt(id, overwritten);
        if (bytes !== null) await this.#write(id, bytes);
      }
      return sameRequest(other, deletion);
    });
  }

  markSent(deletion: Deletion): Promise<void> {
    const sent: Deletion = { ...deletion, state: "sent", sentAtMs: this.#options.clock.nowMs() };
    return this.#lanes.inTurn(deletion.id, async () => {
      await this.#write(deletion.id, this.#options.codec.encode(sent));
    });
  }

  /** The whole request, read from the topic. Rejects with `deadline_exceeded` while the brokers do not answer. */
  async read(id: string): Promise<Deletion> {
    const { codec } = this.#options;
    const { places } = this.#parts;
    for (;;) {
      const offset = places.newest(id);
      if (offset === undefined) throw new Problem("not_found", `there is no deletion request ${id}`);
      const bytes = await this.#bytesAt(id, offset);
      if (bytes !== null) {
        await codec.prefetch(bytes);
        return codec.decode(bytes);
      }
      // Compaction removed the record after a newer one was written, which the table will have read after a refresh.
      await this.#parts.table.refresh(WRITE_DEADLINE_MS);
      if (places.newest(id) === offset)
        throw new Problem("unavailable", `the record of ${id} cannot be found: try again`);
    }
  }

  async close(): Promise<void> {
    await this.#parts.table.close();
  }

  /** Writes the newest record of a request, and waits until the table here has applied or ignored it. */
  #write(id: string, value: Buffer, audited: readonly OutgoingRecord[] = []): Promise<Applied<DeletionLine>> {
    const { clock, writer } = this.#options;
    const { table, written } = this.#parts;
    const revision = nextRevision(clock.nowMs(), table.revisionOf(id) ?? 0, writer);
    return written.whileAwaited(id, revision, (applied) =>
      withDeadline(
        this.#send(id, value, { revision, audited }).then(() => applied),
        WRITE_DEADLINE_MS,
        "the brokers (the request may still take effect)",
      ),
    );
  }

  #send(id: string, value: Buffer, { revision, audited }: SentWith): Promise<void> {
    const { producer, topic } = this.#options;
    const headers = { [REVISION_HEADER]: String(revision) };
    return producer.send([{ topic, key: id, value, headers }, ...audited], { patienceMs: WRITE_DEADLINE_MS });
  }

  async #bytesAt(id: string, offset: number): Promise<Buffer | null> {
    const { connection, topic } = this.#options;
    const record = await readRecord(connection, { topic, partition: 0, offset }, WRITE_DEADLINE_MS);
    return record?.key?.toString() === id ? record.value : null;
  }

  /**
   * Writes the newest record again unchanged, since compaction would keep the older write that came after it (P5); no
   * further one before the table has read that, as by S5 of config-store.ts.
   */
  #repair(id: string): void {
    const { log } = this.#options.connection;
    const { table, places, written } = this.#parts;
    const [revision, offset] = [table.revisionOf(id), places.newest(id)];
    if (revision === undefined || offset === undefined) return;
    written.repairSent(id, revision);
    const repairing = this.#bytesAt(id, offset).then(async (bytes) => {
      // Compaction removed the record after a newer one was written: there is nothing to repair.
      if (bytes === null) return written.repairFailed(id);
      await this.#send(id, bytes, { revision, audited: [] });
      log.warn({ event: "deletion_repaired", deletionId: id, revision });
    });
    repairing.catch((error: unknown) => {
      written.repairFailed(id);
      log.error({ event: "deletion_repair_failed", deletionId: id, err: error });
    });
  }
}

/**
 * The fields of a request that the audit has, without the users, since the audit is kept for longer than events are.
 */
function deletionAudit({ userIds, sourceIds, suppress }: Deletion): AuditedFields {
  return { users: userIds.length, sourceIds, suppress };
}

/** Returns the request that is on record when its content is the one that is asked for. Throws a Problem otherwise. */
function sameRequest(held: DeletionLine, { id, content }: Deletion): DeletionLine {
  if (held.content === content) return held;
  throw new Problem("conflict", `the id ${id} is that of another deletion request: take another id for this one`);
}

function lineOf({ userIds, sourceIds, receivers, ...fields }: Deletion): DeletionLine {
  return {
    id: fields.id,
    state: fields.state,
    createdAtMs: fields.createdAtMs,
    sentAtMs: fields.sentAtMs,
    suppress: fields.suppress,
    suppressionEndsAtMs: fields.suppressionEndsAtMs,
    content: fields.content,
    users: userIds.length,
    sourceIds: [...sourceIds],
    receivers: receivers.map(({ sourceId, destinationIds }) => ({ sourceId, destinationIds: [...destinationIds] })),
  };
}
