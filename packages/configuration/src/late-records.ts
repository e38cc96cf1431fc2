/**
 * Reads the latest records of other control processes, which this process has not read yet. Only then is a caller told
 * that there is no such thing.
 *
 * Owns: the number of callers that wait.
 * NH1  A caller that asked for something the table lacks is answered once the table has read the topic's end of the
 *      moment of asking. One request for the end serves all callers that came before it went out (`refresh` of
 *      `table.ts`).
 * NH2  At most `MOST_WAITING` callers wait, each for at most `READ_MS`. Callers beyond that, callers that waited too
 *      long, and callers without brokers are answered by the table as it stands.
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

  /** Resolves with true when the table has read the topic's end, and with false where that is not waited for (NH2). */
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

  /** The answer of `get`, or where that is undefined, its answer after `read`. */
  async find<T>(get: () => T | undefined): Promise<T | undefined> {
    const held = get();
    if (held !== undefined) return held;
    await this.read();
    return get();
  }
}
