/**
 * The end of a topic: the last records of each partition, and those that come.
 *
 * Owns: the readers of its partitions (`end-readers.ts`), which begin again when one of them failed.
 */
import { setTimeout as delay } from "node:timers/promises";
import { EndReaders, type EndReadersOptions } from "./end-readers.ts";

/** Before the readers begin again. */
const AGAIN_MS = 2_000;

export class TopicEnd {
  readonly #options: EndReadersOptions;
  readonly #closing = new AbortController();
  /** Whether the readers were at the end once; false where this was closed before. */
  readonly #atEnd = Promise.withResolvers<boolean>();
  readonly #running: Promise<void>;
  #readers: EndReaders | null = null;

  constructor(options: EndReadersOptions) {
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
    while (!signal.aborted) {
      this.#readers = new EndReaders(this.#options);
      await this.#readers.read(signal, () => this.#atEnd.resolve(true));
      await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
