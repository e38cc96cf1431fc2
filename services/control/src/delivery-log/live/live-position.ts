/** How far a stream got in each of its topics, as the id that each of its events carries. */
import type { EntryPlace } from "@posthaste/kafka/log/recent-entries";

/** For each partition, the place of the first entry that the stream has not sent. */
export type TopicPosition = ReadonlyMap<number, EntryPlace>;

/** The radix of the numbers in an id: a large one keeps the id short, since every event carries it. */
const RADIX = 36;
const MAX_PARTITIONS = 10_000;

/**
 * `d=2s,1x.3~a=7`: for each feed its letter, and then for each partition from 0 on the next offset and, where it is not
 * 0, the place within that record.
 */
export function encodePosition(byLetter: ReadonlyMap<string, TopicPosition>): string {
  return [...byLetter].map(([letter, position]) => `${letter}=${encodeTopic(position)}`).join("~");
}

/** Null for a text that `encodePosition` did not make. */
export function decodePosition(id: string): ReadonlyMap<string, TopicPosition> | null {
  const byLetter = new Map<string, TopicPosition>();
  for (const part of id.split("~")) {
    const [, letter, places] = /^([a-z])=([0-9a-z.,]+)$/.exec(part) ?? [];
    if (letter === undefined || places === undefined) return null;
    const position = decodeTopic(places);
    if (position === null) return null;
    byLetter.set(letter, position);
  }
  return byLetter;
}

export function isBelow(one: EntryPlace, other: EntryPlace): boolean {
  return one.offset < other.offset || (one.offset === other.offset && one.place < other.place);
}

function encodeTopic(position: TopicPosition): string {
  const places: string[] = [];
  for (const [partition, { offset, place }] of position) {
    places[partition] = place === 0 ? offset.toString(RADIX) : `${offset.toString(RADIX)}.${place.toString(RADIX)}`;
  }
  return Array.from(places, (text) => text ?? "").join(",");
}

function decodeTopic(text: string): TopicPosition | null {
  const position = new Map<number, EntryPlace>();
  const places = text.split(",");
  if (places.length > MAX_PARTITIONS) return null;
  for (const [partition, written] of places.entries()) {
    if (written === "") continue;
    const [, offset, place = "0"] = /^([0-9a-z]{1,11})(?:\.([0-9a-z]{1,6}))?$/.exec(written) ?? [];
    const at = offset === undefined ? Number.NaN : Number.parseInt(offset, RADIX);
    if (!Number.isSafeInteger(at)) return null;
    position.set(partition, { offset: at, place: Number.parseInt(place, RADIX) });
  }
  return position;
}
