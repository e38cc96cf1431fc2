/**
 * Lines of the log that repeat one another: an error in a loop must not fill the log.
 *
 * Owns: for each event and subject of the last `EVERY_MS` the last line that was held back, and a timer for it.
 * LG1  A line about the same subject is written once in `EVERY_MS` at most. The last one that was held back is written
 *      at the end of that time, with the number of those before it, so that the log ends with the newest state.
 * LG2  At most `MAX_HELD` subjects are held. A line about one more is written at once.
 */
export const EVERY_MS = 10_000;
const MAX_HELD = 200;

/** Writes a line, with the number of lines before it that were left out. */
export type Write = (skipped: number) => void;

interface Held {
  /** The last line that was held back; null while there is none. */
  last: Write | null;
  /** The lines that were held back before it. */
  skipped: number;
}

export class RepeatedLines {
  readonly #held = new Map<string, Held>();

  /** Writes the line now or later, or leaves it out. `subject` names the event and what it is about. */
  take(subject: string, write: Write): void {
    const held = this.#held.get(subject);
    if (held === undefined) {
      if (this.#held.size < MAX_HELD) this.#hold(subject);
      write(0);
      return;
    }
    if (held.last !== null) held.skipped += 1;
    held.last = write;
  }

  #hold(subject: string): void {
    const held: Held = { last: null, skipped: 0 };
    this.#held.set(subject, held);
    setTimeout(() => {
      this.#held.delete(subject);
      if (held.last === null) return;
      this.#hold(subject);
      held.last(held.skipped);
    }, EVERY_MS).unref();
  }
}
