/**
 * Entries packed for their way to the store's thread: the numbers of all of them in one array, and the texts in
 * another. Handing over an object for each costs several times as much, since every copy names all of its fields again.
 */
import type { ProjectionEntry } from "./projection-entry.ts";
import { type EntriesByProjection, PROJECTION_NAMES, type ProjectionName } from "./store.ts";

interface PackedEntries {
  /** For each entry its time, partition, offset, place, mark and receipt; NaN for a receipt that it has not. */
  readonly numbers: Float64Array;
  /** For each entry its destination, kind, message, detail and users. */
  readonly texts: readonly string[];
}

/** Entries by their projection, packed. */
export type PackedProjections = Readonly<Partial<Record<ProjectionName, PackedEntries>>>;

const NUMBERS = 6;
const TEXTS = 5;

export function packProjections(entries: EntriesByProjection): PackedProjections {
  const packed: Partial<Record<ProjectionName, PackedEntries>> = {};
  for (const name of PROJECTION_NAMES) {
    const ofIt = entries[name];
    if (ofIt !== undefined) packed[name] = pack(ofIt);
  }
  return packed;
}

export function unpackProjections(packed: PackedProjections): EntriesByProjection {
  const entries: Partial<Record<ProjectionName, readonly ProjectionEntry[]>> = {};
  for (const name of PROJECTION_NAMES) {
    const ofIt = packed[name];
    if (ofIt !== undefined) entries[name] = unpack(ofIt);
  }
  return entries;
}

function pack(entries: readonly ProjectionEntry[]): PackedEntries {
  const numbers = new Float64Array(entries.length * NUMBERS);
  const texts: string[] = [];
  let at = 0;
  for (const entry of entries) {
    numbers[at] = entry.timeMs;
    numbers[at + 1] = entry.partition;
    numbers[at + 2] = entry.offset;
    numbers[at + 3] = entry.place;
    numbers[at + 4] = entry.mark ?? 0;
    numbers[at + 5] = entry.receivedAtMs ?? Number.NaN;
    at += NUMBERS;
    texts.push(entry.destinationId, entry.kind, entry.messageId, entry.detail, entry.users);
  }
  return { numbers, texts };
}

function unpack({ numbers, texts }: PackedEntries): readonly ProjectionEntry[] {
  const entries: ProjectionEntry[] = [];
  const number = (at: number): number => numbers[at] ?? 0;
  const text = (at: number): string => texts[at] ?? "";
  for (let at = 0, from = 0; at < numbers.length; at += NUMBERS, from += TEXTS) {
    const entry: ProjectionEntry = {
      timeMs: number(at),
      partition: number(at + 1),
      offset: number(at + 2),
      place: number(at + 3),
      destinationId: text(from),
      kind: text(from + 1),
      messageId: text(from + 2),
      detail: text(from + 3),
      users: text(from + 4),
    };
    const [mark, receivedAtMs] = [number(at + 4), number(at + 5)];
    const received = Number.isNaN(receivedAtMs) ? entry : { ...entry, receivedAtMs };
    entries.push(mark === 0 ? received : { ...received, mark });
  }
  return entries;
}
