/**
 * Where the records of each deletion request stand in their topic, and whose record another one was written over.
 *
 * Owns: for each id the offset of the newest record, and of the newest one before it that asked for something else.
 */
import type { Clock } from "@posthaste/core/time";

/** Longer than whoever wrote over another's record takes to put that back, or to give up. */
const PUT_BACK_MS = 30_000;

interface Places {
  readonly offset: number;
  /** What the newest record asks for: `Deletion.content`. */
  readonly content: string | null;
  /** Offset of the newest record that asked for something else; null where there is none. */
  readonly otherOffset: number | null;
  /** What was asked for first, as far as the topic still says. */
  readonly firstContent: string | null;
  readonly notedAtMs: number;
}

export class RecordPlaces {
  readonly #places = new Map<string, Places>();
  readonly #clock: Pick<Clock, "monotonicMs">;

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /** The table came to a record; `content` is null for a tombstone. */
  note(id: string, content: string | null, offset: number): void {
    const before = this.#places.get(id);
    const isSame = before === undefined || before.content === content;
    const otherOffset = isSame ? (before?.otherOffset ?? null) : before.offset;
    // A tombstone frees the id.
    const firstContent = before === undefined || before.firstContent === null ? content : before.firstContent;
    const place = { offset, content, otherOffset, firstContent: content === null ? null : firstContent };
    this.#places.set(id, { ...place, notedAtMs: this.#clock.monotonicMs() });
  }

  /** Offset of the newest record of an id. */
  newest(id: string): number | undefined {
    return this.#places.get(id)?.offset;
  }

  /** Whether the newest record was written over another's so lately that this may be put back. */
  isContested(id: string): boolean {
    const places = this.#places.get(id);
    if (places === undefined || places.content === places.firstContent) return false;
    return places.content !== null && this.#clock.monotonicMs() - places.notedAtMs < PUT_BACK_MS;
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
