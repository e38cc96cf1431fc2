/**
 * Records that a service cannot read, quarantined into `posthaste.unreadable`: key, value and headers as they were,
 * with added headers that say where the record stood and why the service could not read it.
 *
 * Owns nothing: the producer belongs to the caller.
 * UN1  The brokers have acknowledged the copy before the reader moves on.
 * UN2  When a record with the added headers is too large to send, only the added headers are sent. The record itself
 *      stays in its own topic for that topic's retention.
 */
import { encodeUnreadable } from "@posthaste/contracts/unreadable-headers";
import { isPosthasteError, type PosthasteError } from "@posthaste/core/errors";
import { countUnreadable, reasonOf, startUnreadableCount } from "../codec/unreadable.ts";
import type { KafkaConnection } from "../connection/connect.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import type { OutgoingRecord, Producer } from "./producer.ts";

export interface UnreadableRecordsOptions {
  readonly connection: Pick<KafkaConnection, "log" | "metrics">;
  readonly producer: Pick<Producer, "send">;
  /** The topic for unreadable records. */
  readonly topic: string;
  /** The topics from which the service reads. */
  readonly from: readonly string[];
  /** The service's name. */
  readonly by: string;
  readonly nowMs: () => number;
}

export class UnreadableRecords {
  readonly #options: UnreadableRecordsOptions;

  constructor(options: UnreadableRecordsOptions) {
    this.#options = options;
    for (const topic of options.from) startUnreadableCount(options.connection.metrics, topic);
  }

  /**
   * Quarantines a record for which its codec threw `error`. Resolves when the brokers have it (UN1). Rejects as the
   * producer does.
   */
  async put(record: IncomingRecord, error: PosthasteError): Promise<void> {
    const { connection, producer } = this.#options;
    const { topic, partition, offset, value } = record;
    const bytes = value ?? Buffer.alloc(0);
    try {
      await producer.send([this.#toRecord(record, error, false)]);
    } catch (refusal) {
      if (!isPosthasteError(refusal, "invalid_input")) throw refusal;
      await producer.send([this.#toRecord(record, error, true)]);
    }
    countUnreadable(connection.metrics, topic, { bytes, error });
    connection.log.error(
      { event: "record_unreadable", topic, partition, offset, reason: reasonOf(bytes, error), err: error },
      "a record that no schema reads was put aside",
    );
  }

  #toRecord(record: IncomingRecord, error: PosthasteError, isValueOmitted: boolean): OutgoingRecord {
    const { topic, by, nowMs } = this.#options;
    const { partition, offset, key, value } = record;
    const reason = reasonOf(value ?? Buffer.alloc(0), error);
    const stood = { topic: record.topic, partition, offset };
    const ours = encodeUnreadable({ ...stood, reason, error: error.message, atMs: nowMs(), by, isValueOmitted });
    if (isValueOmitted) return { topic, key: null, value: null, headers: ours };
    return { topic, key, value, headers: { ...record.headers, ...ours } };
  }
}
