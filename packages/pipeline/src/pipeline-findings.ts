/**
 * The findings of a search in the ranges that it reads, and its progress in each.
 *
 * Owns: the events and deliveries found, the count of the records looked at, and the next offset of each range.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { decodeProgress } from "@posthaste/contracts/headers";
import type { LoggedDelivery } from "@posthaste/core/delivery/attempt-record";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { loggedDelivery } from "@posthaste/core/delivery/logged-delivery";
import type { Event } from "@posthaste/core/event/event";
import { eventNameOf } from "@posthaste/core/routing/delivery-fields";
import { userOf } from "@posthaste/core/routing/partition-key";
import { shortName } from "@posthaste/core/routing/short-name";
import type { Clock } from "@posthaste/core/time";
import type { Behind } from "@posthaste/core/verdict/verdict";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { readRange } from "@posthaste/kafka/log/read-range";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { decodedRecord } from "./decoded-record.ts";
import { isFinished, type UnfinishedRange, unfinishedBelow } from "./unfinished-range.ts";

/** An event in `posthaste.events` that the router has not finished. */
export interface UnfinishedEvent extends Behind, Pick<Event, "messageId" | "sourceId" | "type" | "receivedAtMs"> {
  /** The user and the event's name, shortened as the attempt log shortens them. */
  readonly userKey: string;
  readonly event: string | null;
  readonly partition: number;
  readonly offset: number;
}

/** A delivery in `posthaste.deliveries` that the delivery service has not finished. */
export type UnfinishedDelivery = LoggedDelivery & Behind;

/** A range that the search did not read to its end. */
export interface StoppedRange extends Pick<UnfinishedRange, "topic" | "partition" | "end"> {
  /** The first offset that the search did not look at. */
  readonly next: number;
}

export interface FindingsOptions {
  readonly connection: KafkaConnection;
  readonly events: Codec<Event>;
  readonly deliveries: Codec<Delivery>;
  readonly clock: Pick<Clock, "nowMs">;
}

export class PipelineFindings {
  readonly #options: FindingsOptions;
  readonly #messageId: string;
  readonly #idBytes: Buffer;
  readonly #maxRecords: number;
  readonly #next = new Map<UnfinishedRange, number>();
  readonly events: UnfinishedEvent[] = [];
  readonly deliveries: UnfinishedDelivery[] = [];
  /** The number of records looked at. */
  records = 0;

  constructor(messageId: string, maxRecords: number, options: FindingsOptions) {
    this.#options = options;
    this.#messageId = messageId;
    this.#idBytes = Buffer.from(messageId);
    this.#maxRecords = maxRecords;
  }

  async readEvents(range: UnfinishedRange, signal: AbortSignal): Promise<void> {
    const { events: codec } = this.#options;
    await this.#read(range, signal, async (record, behind) => {
      const event = await decodedRecord(codec, record.value);
      if (event?.messageId !== this.#messageId) return;
      const { messageId, sourceId, type, receivedAtMs } = event;
      const named = { userKey: shortName(userOf(event)), event: eventNameOf(event) };
      const { partition, offset } = record;
      this.events.push({ messageId, sourceId, type, receivedAtMs, ...named, partition, offset, ...behind });
    });
  }

  async readDeliveries(range: UnfinishedRange, signal: AbortSignal): Promise<void> {
    const { deliveries: codec } = this.#options;
    await this.#read(range, signal, async (record, behind) => {
      const delivery = await decodedRecord(codec, record.value);
      if (delivery?.messageId !== this.#messageId) return;
      const { partition, offset, timestampMs } = record;
      const place = { key: record.key?.toString() ?? null, delayMs: 0, partition, offset, timestampMs };
      this.deliveries.push({ ...loggedDelivery(delivery, decodeProgress(record.headers), place), ...behind });
    });
  }

  /** The ranges among these that the search did not read to their ends. */
  stoppedAmong(ranges: readonly UnfinishedRange[]): readonly StoppedRange[] {
    return ranges
      .map((range) => ({ ...range, next: this.#next.get(range) ?? range.start }))
      .filter(({ next, end }) => next < end)
      .map(({ topic, partition, next, end }) => ({ topic, partition, next, end }));
  }

  /**
   * Reads a range and hands `look` each unfinished record that holds the id. Ends early when `signal` is aborted or the
   * search has looked at enough records.
   */
  async #read(
    range: UnfinishedRange,
    signal: AbortSignal,
    look: (record: IncomingRecord, behind: Behind) => Promise<void>,
  ): Promise<void> {
    let firstAtMs: number | null = null;
    try {
      for await (const records of readRange(this.#options.connection, range, signal)) {
        for (const record of records) {
          if (this.records >= this.#maxRecords) return;
          this.records += 1;
          firstAtMs ??= record.timestampMs;
          // Nearly every record is another event's, which its bytes tell at a fraction of the cost.
          if (record.value?.includes(this.#idBytes) && !isFinished(range, record.offset)) {
            await look(record, this.#behind(range, record.offset, firstAtMs));
          }
          this.#next.set(range, record.offset + 1);
        }
      }
      this.#next.set(range, range.end);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #behind(range: UnfinishedRange, offset: number, firstAtMs: number): Behind {
    const behindMs = Math.max(0, this.#options.clock.nowMs() - firstAtMs);
    return { recordsBehind: unfinishedBelow(range, offset), behindMs };
  }
}
