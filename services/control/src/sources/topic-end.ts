/**
 * The end of a topic: the last records of each partition, and those that come.
 *
 * Owns: the readers of its partitions (`end-readers.ts`), which begin again when one of them failed.
 * EN4  Readers that fail again and again before they are at the end begin the more rarely: what refuses for good, such
 *      as a registry without the schema, is asked once a minute then. Readers that were at the end begin soon again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { EndReaders, type EndReadersOptions } from "./end-readers.ts";

/** Before the readers begin again; twice as long each time they were not at the end, a minute at the most (EN4). */
const AGAIN_MS = 2_000;
const LONGEST_MS = 60_000;

export interface TopicEndOptions extends EndReadersOptions {
  /** For tests; instead of `againMs`. */
  readonly pauseMs?: (failures: number) => number;
}

export class TopicEnd {
  readonly #options: TopicEndOptions;
  readonly #closing = new AbortController();
  /** Whether the readers were at the end once; false where this was closed before. */
  readonly #atEnd = Promise.withResolvers<boolean>();
  readonly #running: Promise<void>;
  #readers: EndReaders | null = null;

  constructor(options: TopicEndOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /**
   * Whether every partition that has a leader was read to the end that it had when reading began; waits so long for it,
   * in ms, and no longer than until this is closed.
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

  /** At this moment everything that stood in the topic was read, or passed over (EN1); null where that is not known. */
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

/** EN4: after so many readers, one after the other, that failed before they were at the end. */
export function againMs(failures: number): number {
  return Math.min(LONGEST_MS, AGAIN_MS * 2 ** Math.max(0, failures - 1));
}
