/**
 * Repeats by origin (rules D1 to D3): which records of `posthaste.deliveries` were written twice.
 *
 * Every router writes the deliveries of one events partition into a deliveries partition in rising order of (offset,
 * destination id), without gaps. So the greatest pair that was seen tells of every later record whether it is a repeat.
 *
 * Owns: for each topic generation and events partition, the greatest (offset, destination id) of the records noted so
 * far.
 * - A record is a repeat when its pair is not greater than the greatest that was noted of its topic generation and
 *   events partition.
 * O2  The checkpoint holds the newest `KEPT_TOPIC_GENERATIONS` topic generations of an events partition; a record of an
 *     older one counts as new. Forgetting costs repeats, never a record.
 * O3  A record without an origin (a replay) is never a repeat and changes nothing.
 * O4  The text of the checkpoint keeps to `MAX_STATE_BYTES`. `encode` drops state for size, at the cost of repeats,
 *     never of a record: first destination ids, so that all deliveries of the entry's greatest event count as new, then
 *     whole entries, the oldest first.
 */
import { MAX_STATE_BYTES } from "../window/commit-metadata.ts";
import { DigitReader, fixed, varint, widthOf } from "../window/digits.ts";
import type { Delivery } from "./delivery.ts";

/** The topic generation of a delivery without an origin, which a replay wrote and not the router. */
export const NO_TOPIC_GENERATION = -1;

/** More partitions than a topic has anywhere. */
const MOST_PARTITIONS = 65_536;

/**
 * The topic generation that a router writes into origins: the events topic's generation combined with the number of
 * partitions for deliveries. With another number the deliveries of one event lie elsewhere, so that routers which place
 * differently must not be compared: a delivery that one of them had not written yet would count as a repeat. So growing
 * the deliveries topic costs repeats, never a record.
 */
export function originTopicGenerationOf(eventsTopicGeneration: number, deliveryPartitions: number): number {
  return eventsTopicGeneration * MOST_PARTITIONS + deliveryPartitions;
}

/** The current topic generation of the events topic, and the one before, which a late router may still write. */
const KEPT_TOPIC_GENERATIONS = 2;

/** The fields of a delivery that tell whether it is a repeat. */
export type OriginOfDelivery = Pick<
  Delivery,
  "originIncarnation" | "originPartition" | "originOffset" | "destinationId"
>;

interface Greatest {
  readonly topicGeneration: number;
  readonly partition: number;
  offset: number;
  destinationId: string;
  /** Rises with each record that is noted; 0 for an entry that was decoded. */
  notedAt: number;
}

/** How much the text of a checkpoint had no space for. */
export interface Dropped {
  readonly entries: number;
  /** Entries that were kept without their destination id. */
  readonly destinationIds: number;
}

/** The checkpoint of one deliveries partition. Mutable, so that noting a record costs no allocation. */
export class OriginCheckpoint {
  /** By events partition, newest topic generation first. */
  readonly #greatest = new Map<number, Greatest[]>();
  readonly #onDropped: ((dropped: Dropped) => void) | undefined;
  #noted = 0;

  /** `onDropped` is told at each `encode` that had to leave something out. */
  constructor(onDropped?: (dropped: Dropped) => void) {
    this.#onDropped = onDropped;
  }

  /** True when the same delivery stands earlier in the partition (D2). */
  isRepeat(delivery: OriginOfDelivery): boolean {
    const greatest = this.#find(delivery);
    return greatest !== undefined && !isGreater(delivery, greatest.offset, greatest.destinationId);
  }

  /**
   * Notes a record. Where `isRepeat` is asked too, records are noted in the order of the log; otherwise in any order.
   */
  note(delivery: OriginOfDelivery): void {
    const { originIncarnation, originPartition, originOffset, destinationId } = delivery;
    if (originIncarnation === NO_TOPIC_GENERATION) return;
    this.#noted += 1;
    const greatest = this.#find(delivery);
    if (greatest === undefined) {
      const place = { topicGeneration: originIncarnation, partition: originPartition, offset: originOffset };
      this.restore({ ...place, destinationId, notedAt: this.#noted });
    } else if (isGreater(delivery, greatest.offset, greatest.destinationId)) {
      greatest.offset = originOffset;
      greatest.destinationId = destinationId;
      greatest.notedAt = this.#noted;
    }
  }

  /** As text for a commit's metadata (O4); `decodeOriginCheckpoint` reads it back. */
  encode(): string {
    const all = [...this.#greatest.values()].flat();
    if (all.length === 0) return "";
    let kept = all;
    let groups = groupsOf(kept);
    let size = sizeOf(groups);
    if (size > MAX_STATE_BYTES) {
      const newest = all.toSorted((a, b) => b.notedAt - a.notedAt);
      for (let count = newest.length; size > MAX_STATE_BYTES; size = sizeOf(groups)) {
        count = Math.floor((count * MAX_STATE_BYTES) / (size + 1));
        kept = newest.slice(0, count);
        groups = groupsOf(kept);
      }
    }
    const ids = idsThatFit(kept, MAX_STATE_BYTES - size);
    const droppedIds = kept.reduce((count, { destinationId }) => count + (ids.has(destinationId) ? 0 : 1), 0);
    if (kept.length < all.length || droppedIds > 0) {
      this.#onDropped?.({ entries: all.length - kept.length, destinationIds: droppedIds });
    }
    return encodeGroups(groups, ids);
  }

  /** Adds one entry as it stood in a checkpoint; for `decodeOriginCheckpoint`. */
  restore(entry: Greatest): void {
    const kept = [entry, ...(this.#greatest.get(entry.partition) ?? [])].sort(
      (a, b) => b.topicGeneration - a.topicGeneration,
    );
    this.#greatest.set(entry.partition, kept.slice(0, KEPT_TOPIC_GENERATIONS));
  }

  #find({ originIncarnation, originPartition }: OriginOfDelivery): Greatest | undefined {
    const kept = this.#greatest.get(originPartition);
    return kept?.[0]?.topicGeneration === originIncarnation
      ? kept[0]
      : kept?.find(({ topicGeneration }) => topicGeneration === originIncarnation);
  }
}

function isGreater({ originOffset, destinationId }: OriginOfDelivery, offset: number, thanId: string): boolean {
  return originOffset === offset ? destinationId > thanId : originOffset > offset;
}

/** Picks the origins that suffice: a checkpoint that notes them, in any order, equals one that notes all. */
export function condenseOrigins(origins: readonly OriginOfDelivery[]): OriginOfDelivery[] {
  const greatest = new Map<string, OriginOfDelivery>();
  for (const origin of origins) {
    const key = `${origin.originIncarnation}/${origin.originPartition}`;
    const held = greatest.get(key);
    if (held === undefined || isGreater(origin, held.originOffset, held.destinationId)) greatest.set(key, origin);
  }
  return [...greatest.values()];
}

/** The most bytes of a group's head: two numbers in base 36, two widths, and separators. */
const HEAD_BYTES = 28;

/** The entries of one topic generation, in the order of their partitions. */
interface Group {
  readonly topicGeneration: number;
  readonly entries: Greatest[];
  /** The least offset. */
  readonly base: number;
  /** The digits that the greatest offset takes above `base`. */
  readonly width: number;
}

function groupsOf(entries: readonly Greatest[]): readonly Group[] {
  const byTopicGeneration = new Map<number, Greatest[]>();
  for (const entry of entries) {
    const group = byTopicGeneration.get(entry.topicGeneration);
    if (group === undefined) byTopicGeneration.set(entry.topicGeneration, [entry]);
    else group.push(entry);
  }
  return [...byTopicGeneration].map(([topicGeneration, group]) => {
    const offsets = group.map(({ offset }) => offset);
    const base = Math.min(...offsets);
    const inOrder = group.sort((a, b) => a.partition - b.partition);
    return { topicGeneration, entries: inOrder, base, width: widthOf(Math.max(...offsets) - base) };
  });
}

/** The most bytes that the groups take without destination ids. */
function sizeOf(groups: readonly Group[]): number {
  let size = 1;
  for (const { entries, width } of groups) {
    size += HEAD_BYTES;
    let previous = -1;
    for (const { partition } of entries) {
      size += (partition - previous <= 32 ? 1 : varint(partition - previous - 1).length) + width;
      previous = partition;
    }
  }
  return size;
}

/** The destination ids that fit, the most used first, each with its number from 1. */
function idsThatFit(entries: readonly Greatest[], freeBytes: number): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const { destinationId } of entries) uses.set(destinationId, (uses.get(destinationId) ?? 0) + 1);
  const byUse = [...uses.keys()].sort((a, b) => (uses.get(b) ?? 0) - (uses.get(a) ?? 0));
  const ids = new Map<string, number>();
  let left = freeBytes - entries.length * widthOf(byUse.length);
  for (const id of byUse) {
    left -= encodeURIComponent(id).length + 1;
    if (left < 0) break;
    ids.set(id, ids.size + 1);
  }
  return ids;
}

function encodeGroups(groups: readonly Group[], ids: ReadonlyMap<string, number>): string {
  const idWidth = widthOf(ids.size);
  const parts = [[...ids.keys()].map(encodeURIComponent).join(",")];
  for (const { topicGeneration, entries, base, width } of groups) {
    let text = `${topicGeneration.toString(36)}:${base.toString(36)}:${fixed(width, 1)}${fixed(idWidth, 1)}`;
    let previous = -1;
    for (const { partition, offset, destinationId } of entries) {
      const id = ids.get(destinationId) ?? 0;
      text += varint(partition - previous - 1) + fixed(offset - base, width) + fixed(id, idWidth);
      previous = partition;
    }
    parts.push(text);
  }
  return parts.join(";");
}

const GROUP = /^([0-9a-z]{1,11}):([0-9a-z]{1,11}):([A-Za-z0-9_-]*)$/;

/** Reads the text of `encode`. Unreadable parts are dropped: a lost checkpoint costs repeats, never a record (D3). */
export function decodeOriginCheckpoint(text: string, onDropped?: (dropped: Dropped) => void): OriginCheckpoint {
  const checkpoint = new OriginCheckpoint(onDropped);
  const [idsText = "", ...groups] = text.split(";");
  // Number 0 is no id: every id is greater than the empty text, so each delivery of that event counts as new.
  const ids = ["", ...idsText.split(",").map(decodedComponent)];
  for (const group of groups) {
    const match = GROUP.exec(group);
    if (!match) continue;
    const [, topicGeneration = "", base = "", entries = ""] = match;
    restoreGroup(
      checkpoint,
      { topicGeneration: Number.parseInt(topicGeneration, 36), base: Number.parseInt(base, 36), entries },
      ids,
    );
  }
  return checkpoint;
}

interface GroupText {
  readonly topicGeneration: number;
  readonly base: number;
  readonly entries: string;
}

function restoreGroup(
  checkpoint: OriginCheckpoint,
  { topicGeneration, base, entries }: GroupText,
  ids: readonly string[],
): void {
  const reader = new DigitReader(entries);
  const width = reader.fixed(1);
  const idWidth = reader.fixed(1);
  if (width === null || idWidth === null) return;
  for (let partition = -1; ; ) {
    const step = reader.varint();
    const offset = reader.fixed(width);
    const id = reader.fixed(idWidth);
    if (step === null || offset === null || id === null) return;
    partition += step + 1;
    checkpoint.restore({ topicGeneration, partition, offset: base + offset, destinationId: ids[id] ?? "", notedAt: 0 });
  }
}

/** The decoded text; the empty text for one that cannot be read. */
function decodedComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
