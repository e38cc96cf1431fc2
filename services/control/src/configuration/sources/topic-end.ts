/**
 * Follows the end of a topic: the last records of each partition, and the new ones as they come.
 *
 * Owns: the readers of its partitions (`end-readers.ts`), which begin again when one of them failed.
 * EN4  After readers that failed before they reached the end, the pause before the next ones doubles, up to a minute,
 *      so that a lasting fault, such as a registry without the schema, is met once a minute. After readers that had
 *      reached the end, the pause is short again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { EndReaders, type EndReadersOptions } from "./end-readers.ts";

/** The ms before the readers begin again: `AGAIN_MS` at first, `LONGEST_MS` at the most (EN4). */
const AGAIN_MS = 2_000;
const LONGEST_MS = 60_000;

export interface TopicEndOptions extends EndReadersOptions {
  /** For tests; instead of `againMs`. */
  readonly pauseMs?: (failures: number) => number;
}

export class TopicEnd {
  readonly #options: TopicEndOptions;
  readonly #closing = new AbortController();
  /** Resolves with true once the readers reached the end; with false when this was closed before. */
  readonly #atEnd = Promise.withResolvers<boolean>();
  readonly #running: Promise<void>;
  #readers: EndReaders | null = null;

  constructor(options: TopicEndOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /**
   * Waits at most `patienceMs`, and until this is closed, for the readers to read every partition that has a leader up
   * to the end that it had when reading began. Resolves with true when they have.
   */
  async reached(patienceMs: number): Promise<boolean> {
    const enough = new AbortController();
    const tooLong = delay(patienceMs, false, { signal: enough.signal }).catch(() => false);
    try {
      return await Promise.race([this.#atEnd.promise, tooLong]);
    } finally {
      enough.abort();
    }
  }

  /**
   * Every record that stood in the topic at this moment has been read, or passed over (EN1); null where that is not
   * known.
   */
  get asOfMs(): number | null {
    return this.#readers?.asOfMs ?? null;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#atEnd.resolve(false);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const { pauseMs = againMs } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      failures += 1;
      this.#readers = new EndReaders(this.#options);
      await this.#readers.read(signal, () => {
        failures = 0;
        this.#atEnd.resolve(true);
      });
      await delay(pauseMs(failures), undefined, { signal }).catch(() => undefined);
    }
  }
}

/** EN4: the pause in ms after `failures` attempts in a row that failed before they reached the end. */
export function againMs(failures: number): number {
  return Math.min(LONGEST_MS, AGAIN_MS * 2 ** Math.max(0, failures - 1));
}
