/**
 * The schemas that a consumer waits for before it can read a record.
 *
 * Owns: the questions that the registry has not answered yet, and the schema ids that were given up.
 * AW1  The consumer waits without an end for a registry that does not answer.
 * AW2  The consumer waits for a schema that the registry does not know until the registry has said so for `patienceMs`;
 *      time in which the registry did not answer does not count. Then the consumer gives the id up: records of that
 *      schema count as unreadable from then on, and the consumer moves on.
 * AW3  All records of a schema wait together, whatever their partition, from the moment at which the first of them was
 *      seen. `ahead` sees the records that are fetched and stand behind a waiting record. So a partition stands still
 *      for `patienceMs` at the most for all records that it has fetched, however many schemas are missing.
 * AW4  The registry is asked again for an id that was given up, at most every `RECHECK_MS` and without patience.
 */
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import { untilAnswered, type Waiting } from "../connection/when-reachable.ts";
import { isFramed, schemaIdOf } from "./confluent-frame.ts";

/** How long the consumer waits by default for a schema that the registry does not know. */
export const UNKNOWN_SCHEMA_PATIENCE_MS = 600_000;
const RECHECK_MS = 5000;
/** The most ids that are remembered as given up; a record may name any of four billion. */
const MOST_GIVEN_UP = 10_000;

export interface AwaitedSchemasOptions {
  /** The codec's own `prefetch`, which answers undefined when the codec knows the schema of these bytes. */
  readonly prefetch: (bytes: Buffer) => Promise<void> | undefined;
  readonly patienceMs: number;
  /** Where the wait is logged, and the signal that ends it. */
  readonly waiting: Waiting;
}

interface Unknown {
  /** For how long the registry has said that it does not know the schema, in ms. */
  forMs: number;
  /** When the registry said so last; null when it failed to answer since. */
  saidAtMs: number | null;
}

export class AwaitedSchemas {
  readonly #options: AwaitedSchemasOptions;
  readonly #clock: Clock;
  readonly #asked = new Map<number, Promise<void>>();
  /** The ids that were given up, each with the time at which the registry was last asked for it. */
  readonly #givenUp = new Map<number, number>();

  constructor(options: AwaitedSchemasOptions) {
    this.#options = options;
    this.#clock = options.waiting.clock ?? SYSTEM_CLOCK;
  }

  /**
   * Resolves when the schema of these bytes is known or given up; returns undefined when it already is. Rejects when
   * the registry refuses the question for good, and when the signal ends the wait.
   */
  prefetch(bytes: Buffer): Promise<void> | undefined {
    if (!isFramed(bytes)) return undefined;
    const id = schemaIdOf(bytes);
    const asked = this.#asked.get(id);
    if (asked !== undefined) return asked;
    const givenUpAtMs = this.#givenUp.get(id);
    if (givenUpAtMs !== undefined && this.#clock.monotonicMs() < givenUpAtMs + RECHECK_MS) return undefined;
    const first = this.#options.prefetch(bytes);
    if (first === undefined) return undefined;
    const answered = this.#ask(id, bytes, first).finally(() => this.#asked.delete(id));
    this.#asked.set(id, answered);
    return answered;
  }

  /** Asks for the schema of a record before the record's turn has come (AW3). */
  ahead(bytes: Buffer): void {
    // When the record's turn comes, its reader asks again and gets the failure.
    this.prefetch(bytes)?.catch(() => undefined);
  }

  #ask(id: number, bytes: Buffer, first: Promise<void>): Promise<void> {
    const unknown: Unknown = { forMs: 0, saidAtMs: null };
    let question: Promise<void> | undefined = first;
    const once = async () => {
      const asked = question ?? this.#options.prefetch(bytes);
      question = undefined;
      try {
        await asked;
        this.#givenUp.delete(id);
      } catch (error) {
        if (!isPosthasteError(error, "unknown_schema")) {
          unknown.saidAtMs = null;
          throw error;
        }
        if (this.#noteUnknown(id, unknown)) return;
        throw new PosthasteError(error.code, error.message, { retryable: true, cause: error });
      }
    };
    return untilAnswered(once, this.#options.waiting);
  }

  /**
   * Notes that the registry said once more that it does not know the schema. True when the id is given up (AW2, AW4).
   */
  #noteUnknown(id: number, unknown: Unknown): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (unknown.saidAtMs !== null) unknown.forMs += nowMs - unknown.saidAtMs;
    unknown.saidAtMs = nowMs;
    if (unknown.forMs < this.#options.patienceMs && !this.#givenUp.has(id)) return false;
    this.#givenUp.delete(id);
    this.#givenUp.set(id, nowMs);
    for (const oldest of this.#givenUp.keys()) {
      if (this.#givenUp.size <= MOST_GIVEN_UP) break;
      this.#givenUp.delete(oldest);
    }
    return true;
  }
}
