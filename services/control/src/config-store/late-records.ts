/**
 * What another process of control wrote a moment ago, and this one has not read yet: looked for before anybody is told
 * that there is no such thing.
 *
 * Owns: the number of those who wait.
 * NH1  Who asked for what the table does not hold is answered when the table has read what the topic's end was after
 *      they asked. One question for the end serves all who came before it went out (`refresh` of `table.ts`).
 * NH2  At most `MOST_WAITING` wait, each for `READ_MS` at the most: whoever comes beyond that, waits longer or finds no
 *      brokers is answered by what the table holds.
 */
import type { Table } from "@posthaste/kafka/log/table";

const READ_MS = 2000;
const MOST_WAITING = 500;

export class LateRecords {
  readonly #table: Pick<Table<unknown>, "refresh">;
  #waiting = 0;

  constructor(table: Pick<Table<unknown>, "refresh">) {
    this.#table = table;
  }

  /** Resolves with true when everything that stood in the topic was read, with false where that is not waited for. */
  async read(): Promise<boolean> {
    if (this.#waiting >= MOST_WAITING) return false;
    this.#waiting += 1;
    try {
      await this.#table.refresh(READ_MS);
      return true;
    } catch {
      return false;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** What `get` answers; where that is nothing, what it answers after `read`. */
  async find<T>(get: () => T | undefined): Promise<T | undefined> {
    const held = get();
    if (held !== undefined) return held;
    await this.read();
    return get();
  }
}
