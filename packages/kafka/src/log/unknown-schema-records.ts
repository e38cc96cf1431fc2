/**
 * Records of a table whose schema the registry does not know. They are set aside, and the registry is asked again: long
 * after a record was read, somebody may restore its schema, or another node of the registry may know it.
 *
 * Owns: the newest such record of each key, by revision, and the timer of the next round of questions.
 * UR1  A record stays set aside until its schema can be fetched, or its key gets a record with the same or a higher
 *      revision; a late write with a lower revision does not displace it (P5). Nothing waits for a record that was set
 *      aside.
 * UR2  Each round asks the registry once for each schema, however many records have it. A registry that does not answer
 *      ends the round.
 * UR3  At most `MOST_RECORDS` keys have a record here; records of further keys are dropped. Each record has bytes of
 *      its own, since a fetched record is a view of its whole fetch.
 */
import { headerText, PREVIOUS_REVISION_HEADER, REVISION_HEADER } from "@posthaste/contracts/headers";
import { isPosthasteError } from "@posthaste/core/errors";
import { isFramed, schemaIdOf } from "../codec/confluent-frame.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";

/** Ms from the end of one round to the next. */
const ROUND_MS = 5000;
const MOST_RECORDS = 10_000;

export interface UnknownSchemaOptions {
  /** Fetches the schema of these bytes. Rejects with `unknown_schema` while the registry does not have it. */
  readonly prefetch: (bytes: Buffer) => Promise<void> | undefined;
  /** Takes a record whose schema is known now. */
  readonly onKnown: (record: IncomingRecord) => void;
  /**
   * `prefetch` or `onKnown` failed, and not for an answer of the registry: that is a bug, and no further round follows.
   */
  readonly onFailure: (reason: Error) => void;
  /** Ms from the end of one round to the next. Default 5,000. */
  readonly roundMs?: number | undefined;
}

interface SetAside {
  readonly record: IncomingRecord;
  readonly revision: number;
}

export class UnknownSchemaRecords {
  readonly #options: UnknownSchemaOptions;
  readonly #records = new Map<string, SetAside>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: UnknownSchemaOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#records.size;
  }

  /** Sets a key's record aside, unless a record of the key with a higher revision is set aside already. */
  add(key: string, record: IncomingRecord, revision: number): void {
    const before = this.#records.get(key);
    if (before === undefined ? this.#records.size >= MOST_RECORDS : revision < before.revision) return;
    this.#records.set(key, { record: withOwnBytes(record, revision), revision });
    this.#ask();
  }

  /** The key got a record with this revision (UR1). */
  forget(key: string, revision: number): void {
    const setAside = this.#records.get(key);
    if (setAside !== undefined && !(revision < setAside.revision)) this.#records.delete(key);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#records.clear();
  }

  #ask(): void {
    if (this.#timer !== undefined || this.#isClosed || this.#records.size === 0) return;
    const { roundMs = ROUND_MS } = this.#options;
    this.#timer = setTimeout(() => void this.#askAll(), roundMs);
  }

  /** Runs one round and starts the timer of the next. Never rejects. */
  async #askAll(): Promise<void> {
    try {
      await this.#round();
    } catch (error) {
      if (this.#isClosed) return;
      this.close();
      this.#options.onFailure(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.#timer = undefined;
    this.#ask();
  }

  /** Asks the registry once for each schema (UR2). */
  async #round(): Promise<void> {
    for (const [schemaId, bytes] of this.#schemas()) {
      const answer = await this.#fetch(bytes);
      if (answer === "silent") break;
      if (answer === "known") this.#release(schemaId);
    }
  }

  /** The bytes of one record for each schema. */
  #schemas(): ReadonlyMap<number, Buffer> {
    const schemas = new Map<number, Buffer>();
    for (const { record } of this.#records.values()) {
      const { value } = record;
      if (value !== null && isFramed(value)) schemas.set(schemaIdOf(value), value);
    }
    return schemas;
  }

  async #fetch(bytes: Buffer): Promise<"known" | "unknown" | "silent"> {
    try {
      await this.#options.prefetch(bytes);
      return "known";
    } catch (error) {
      if (!isPosthasteError(error)) throw error;
      return error.code === "unknown_schema" ? "unknown" : "silent";
    }
  }

  #release(schemaId: number): void {
    for (const [key, { record }] of [...this.#records]) {
      if (record.value === null || !isFramed(record.value) || schemaIdOf(record.value) !== schemaId) continue;
      this.#records.delete(key);
      this.#options.onKnown(record);
    }
  }
}

function withOwnBytes(record: IncomingRecord, revision: number): IncomingRecord {
  const { key, value } = record;
  return {
    ...record,
    key: key === null ? null : Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    headers: {
      [REVISION_HEADER]: String(revision),
      [PREVIOUS_REVISION_HEADER]: headerText(record.headers, PREVIOUS_REVISION_HEADER),
    },
  };
}
