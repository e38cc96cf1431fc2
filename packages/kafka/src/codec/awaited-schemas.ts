/**
 * The schemas that a consumer waits for before it can read a record.
 *
 * Owns: the questions that are out, and the ids that were given up.
 * AW1  A registry that does not answer is waited for without an end.
 * AW2  A schema that the registry does not know is waited for until the registry has said so for `patienceMs`; time
 *      in which it did not answer does not count. Then the id is given up: its records are unreadable, and go on.
 * AW3  All records of one schema wait together, whatever their partition, from the first of them that was seen on;
 *      `ahead` has those seen that are fetched and stand behind one that waits. So a partition stands still for
 *      `patienceMs` at the most for all that it has fetched, however many schemas lack.
 * AW4  An id that was given up is asked for again at most every `RECHECK_MS`, without patience.
 */
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import { untilAnswered, type Waiting } from "../connection/when-reachable.ts";
import { isFramed, schemaIdOf } from "./confluent-frame.ts";

/** How long a schema is waited for that the registry does not know, by default. */
export const UNKNOWN_SCHEMA_PATIENCE_MS = 600_000;
const RECHECK_MS = 5000;
/** Given-up ids that are remembered; a record may name any of four billion. */
const MOST_GIVEN_UP = 10_000;

export interface AwaitedSchemasOptions {
  /** Of a codec: undefined when the schema of these bytes is known. */
  readonly prefetch: (bytes: Buffer) => Promise<void> | undefined;
  readonly patienceMs: number;
  /** How the waiting is said, and what ends it. */
  readonly waiting: Waiting;
}

interface Unknown {
  /** How long the registry has said so. */
  forMs: number;
  /** When it said so last; null when it did not answer since. */
  saidAtMs: number | null;
}

export class AwaitedSchemas {
  readonly #options: AwaitedSchemasOptions;
  readonly #clock: Clock;
  readonly #asked = new Map<number, Promise<void>>();
  /** When each was asked for last. */
  readonly #givenUp = new Map<number, number>();

  constructor(options: AwaitedSchemasOptions) {
    this.#options = options;
    this.#clock = options.waiting.clock ?? SYSTEM_CLOCK;
  }

  /**
   * Resolves when the schema of these bytes is known or given up; undefined when it is already. Rejects with what the
   * registry refuses for good, and when the waiting is ended.
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

  /** Asks for the schema of a record that is not to be read yet (AW3). */
  ahead(bytes: Buffer): void {
    // Whoever comes to the record asks again, and is told of a failure.
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
        if (this.#isGivenUp(id, unknown)) return;
        throw new PosthasteError(error.code, error.message, { retryable: true, cause: error });
      }
    };
    return untilAnswered(once, this.#options.waiting);
  }

  /** The registry said once more that it does not know the schema (AW2). */
  #isGivenUp(id: number, unknown: Unknown): boolean {
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
