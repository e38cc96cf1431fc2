/**
 * Repeats by origin (rules D1 to D3): what of `posthaste.deliveries` was written twice.
 *
 * Every writer of a deliveries partition writes the deliveries of one events partition in rising order of (offset,
 * destination id), without gaps. So the greatest pair that was seen says of every later record whether it is a repeat.
 *
 * Owns: for each (log id, events partition), the greatest (offset, destination id) of the records noted so far.
 * O1  A record is a repeat when its pair is not greater than the greatest noted of its (log id, events partition).
 * O2  Of an events partition the newest `KEPT_LOG_IDS` log ids are held; a record of an older one counts as new:
 *     forgetting costs a repeat, never a record.
 * O3  A record without an origin (a replay) is never a repeat and changes nothing.
 */
import type { Delivery } from "./delivery.ts";

/** The log id of a delivery without an origin: one that was written by a replay and not by the router. */
export const NO_LOG_ID = -1;

/** More partitions than a topic has anywhere. */
const MOST_PARTITIONS = 65_536;

/**
 * The log id that a router writes into origins: the events topic's own, and the number of partitions that it places
 * deliveries on. With another number the deliveries of one event lie elsewhere, so writers that place differently must not
 * be held against each other: what one of them left unwritten would be taken for a repeat. Growing the deliveries topic
 * so costs repeats and never a record.
 */
export function originLogIdOf(eventsLogId: number, deliveryPartitions: number): number {
  return eventsLogId * MOST_PARTITIONS + deliveryPartitions;
}

/** The running incarnation of the events topic and the one before, which a late writer may still write. */
const KEPT_LOG_IDS = 2;

/** What is needed of a delivery to tell whether it is a repeat. */
export type OriginOfDelivery = Pick<Delivery, "originLogId" | "originPartition" | "originOffset" | "destinationId">;

interface Greatest {
  readonly logId: number;
  offset: number;
  destinationId: string;
}

/** The fold of one deliveries partition. Mutable, so that noting a record costs no allocation. */
export class OriginFold {
  /** By events partition, newest log id first. */
  readonly #greatest = new Map<number, Greatest[]>();

  /** True when the same delivery stands earlier in the partition (D2). */
  isRepeat(delivery: OriginOfDelivery): boolean {
    const greatest = this.#find(delivery);
    if (greatest === undefined) return false;
    if (delivery.originOffset !== greatest.offset) return delivery.originOffset < greatest.offset;
    return delivery.destinationId <= greatest.destinationId;
  }

  /** Takes a record into the fold; records must come in the order of the log. */
  note(delivery: OriginOfDelivery): void {
    if (delivery.originLogId === NO_LOG_ID) return;
    const greatest = this.#find(delivery);
    if (greatest === undefined) {
      this.#add(delivery.originPartition, {
        logId: delivery.originLogId,
        offset: delivery.originOffset,
        destinationId: delivery.destinationId,
      });
      return;
    }
    if (this.isRepeat(delivery)) return;
    greatest.offset = delivery.originOffset;
    greatest.destinationId = delivery.destinationId;
  }

  /** As text for a commit's metadata; `decodeOriginFold` reads it back. About 30 bytes an events partition. */
  encode(): string {
    const entries: string[] = [];
    for (const [partition, kept] of this.#greatest) {
      for (const { logId, offset, destinationId } of kept) {
        entries.push(
          `${logId.toString(36)}.${partition.toString(36)}.${offset.toString(36)}.${encodeURIComponent(destinationId)}`,
        );
      }
    }
    return entries.join(",");
  }

  /** Adds one entry as it stands in the encoding; for `decodeOriginFold`. */
  restore(logId: number, partition: number, offset: number, destinationId: string): void {
    this.#add(partition, { logId, offset, destinationId });
  }

  #find({ originLogId, originPartition }: OriginOfDelivery): Greatest | undefined {
    const kept = this.#greatest.get(originPartition);
    return kept?.[0]?.logId === originLogId ? kept[0] : kept?.find(({ logId }) => logId === originLogId);
  }

  #add(partition: number, added: Greatest): void {
    const kept = [added, ...(this.#greatest.get(partition) ?? [])].sort((a, b) => b.logId - a.logId);
    this.#greatest.set(partition, kept.slice(0, KEPT_LOG_IDS));
  }
}

const ENTRY = /^([0-9a-z]{1,11})\.([0-9a-z]{1,7})\.([0-9a-z]{1,11})\.([^,]*)$/;

/** Reads what `encode` wrote. What cannot be read is left out: a lost fold costs repeats, never a record (D3). */
export function decodeOriginFold(text: string): OriginFold {
  const fold = new OriginFold();
  for (const entry of text.split(",")) {
    const match = ENTRY.exec(entry);
    if (!match) continue;
    const [, logId = "", partition = "", offset = "", destinationId = ""] = match;
    const id = decodedComponent(destinationId);
    if (id !== null)
      fold.restore(Number.parseInt(logId, 36), Number.parseInt(partition, 36), Number.parseInt(offset, 36), id);
  }
  return fold;
}

function decodedComponent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
