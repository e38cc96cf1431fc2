/**
 * Where the records of each deletion request stand in their topic, and whose record another one was written over.
 *
 * Owns: for each id the offset of the newest record, and of the newest one before it that asked for something else.
 */

interface Places {
  readonly offset: number;
  /** What the newest record asks for: `Deletion.content`. */
  readonly content: string | null;
  /** Offset of the newest record that asked for something else; null where there is none. */
  readonly otherOffset: number | null;
}

export class RecordPlaces {
  readonly #places = new Map<string, Places>();

  /** The table came to a record; `content` is null for a tombstone. */
  note(id: string, content: string | null, offset: number): void {
    const before = this.#places.get(id);
    const isSame = before === undefined || before.content === content;
    const otherOffset = isSame ? (before?.otherOffset ?? null) : before.offset;
    this.#places.set(id, { offset, content, otherOffset });
  }

  /** Offset of the newest record of an id. */
  newest(id: string): number | undefined {
    return this.#places.get(id)?.offset;
  }

  /**
   * Offset of the record that the newest one, which asks for `content`, was written over; null where the newest asks
   * for something else, since then whoever came first has written again, or where it is the first.
   */
  overwritten(id: string, content: string): number | null {
    const places = this.#places.get(id);
    return places?.content === content ? places.otherOffset : null;
  }
}
