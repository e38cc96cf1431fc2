/**
 * Where the records of each deletion request stand in their topic, and which record another one was written over.
 *
 * Owns: for each id the offset of the newest record, and the offset of the newest one before it with another content.
 */
import type { Clock } from "@posthaste/core/time";

/**
 * How long a record counts as contested, in ms: longer than a process takes to put another's record back, or to give
 * up.
 */
const PUT_BACK_MS = 30_000;

interface Places {
  readonly offset: number;
  /** The content of the newest record (`Deletion.content`); null for a tombstone. */
  readonly content: string | null;
  /** The offset of the newest record with another content; null where there is none. */
  readonly otherOffset: number | null;
  /** The content that came first, as far as the topic still has it. */
  readonly firstContent: string | null;
  readonly notedAtMs: number;
}

export class RecordPlaces {
  readonly #places = new Map<string, Places>();
  readonly #clock: Pick<Clock, "monotonicMs">;

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /** Notes a record that the table read; `content` is null for a tombstone. */
  note(id: string, content: string | null, offset: number): void {
    const before = this.#places.get(id);
    const isSame = before === undefined || before.content === content;
    const otherOffset = isSame ? (before?.otherOffset ?? null) : before.offset;
    // A tombstone frees the id.
    const firstContent = before === undefined || before.firstContent === null ? content : before.firstContent;
    const place = { offset, content, otherOffset, firstContent: content === null ? null : firstContent };
    this.#places.set(id, { ...place, notedAtMs: this.#clock.monotonicMs() });
  }

  /** The offset of the newest record of an id. */
  newest(id: string): number | undefined {
    return this.#places.get(id)?.offset;
  }

  /** Whether the newest record was written over another's so recently that that one may be put back. */
  isContested(id: string): boolean {
    const places = this.#places.get(id);
    if (places === undefined || places.content === places.firstContent) return false;
    return places.content !== null && this.#clock.monotonicMs() - places.notedAtMs < PUT_BACK_MS;
  }

  /**
   * The offset of the record that the newest one, with this `content`, was written over. Null when the newest has
   * another content, since the process that came first has then written again, and when it is the first.
   */
  overwritten(id: string, content: string): number | null {
    const places = this.#places.get(id);
    return places?.content === content ? places.otherOffset : null;
  }
}
