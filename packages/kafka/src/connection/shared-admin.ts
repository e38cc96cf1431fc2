/**
 * The connection's one admin client, shared by whoever asks.
 *
 * Owns: that client, while it is connected.
 * SA1  The client is connected at the first question. A failure of the connection throws it away: the next try has a
 *      new client, whose list of brokers begins with another.
 * SA2  A question is asked again for `patienceMs`, longer than an election takes; what is asked here can be asked twice
 *      without harm. A broker that refuses this process (by its certificate or the login) would do so for longer: its
 *      refusal is told at once.
 * SA3  What was asked again until the patience was over is told as a failure that passes, whatever kafkajs made of it:
 *      who can wait longer than that asks anew, and does not end for it.
 */
import { PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import type { Admin } from "kafkajs";
import { type Cluster, createAdmin } from "../kafkajs/kafkajs-internals.ts";
import { pause, retryPauseMs, withDeadline } from "./deadline.ts";
import type { ClientOptions, KafkaClient } from "./kafka-client.ts";
import { isPassingFailure, isTopicMissing, refusalOf, toPosthasteError } from "./kafka-errors.ts";
import { rotate } from "./seed-brokers.ts";
import { SYSTEM_CLOCK } from "./system-clock.ts";

/** An election takes 3 to 5 s with the session settings of rule P4. */
export const ADMIN_PATIENCE_MS = 8000;
const CONNECT_DEADLINE_MS = 5000;
/** Making topics on a loaded machine takes seconds; everything else milliseconds. */
const ANSWER_DEADLINE_MS = 15_000;

export interface SharedAdminOptions {
  readonly createClient: (options: ClientOptions) => KafkaClient;
  readonly brokers: readonly string[];
  /** How long a question is asked again, in ms; default `ADMIN_PATIENCE_MS`. */
  readonly patienceMs?: number;
  readonly clock?: Clock;
}

interface ConnectedAdmin {
  readonly client: KafkaClient;
  readonly admin: Admin;
  readonly cluster: Cluster;
}

export class SharedAdmin {
  readonly #options: Required<SharedAdminOptions>;
  #held: Promise<ConnectedAdmin> | null = null;
  #made = 0;
  #closed = false;

  constructor({ patienceMs = ADMIN_PATIENCE_MS, clock = SYSTEM_CLOCK, ...options }: SharedAdminOptions) {
    this.#options = { ...options, patienceMs, clock };
  }

  /** Asks one question, connecting where that is needed. Rejects with a PosthasteError, `closed` after `close`. */
  async use<R>(ask: (admin: Admin, cluster: Cluster) => Promise<R>): Promise<R> {
    const { clock, patienceMs } = this.#options;
    const giveUpAtMs = clock.monotonicMs() + patienceMs;
    for (let failures = 0; ; ) {
      if (this.#closed) throw new PosthasteError("closed", "the connection is closed");
      this.#held ??= this.#connect();
      const held = this.#held;
      try {
        const { admin, cluster } = await held;
        return await withDeadline(ask(admin, cluster), ANSWER_DEADLINE_MS, "asking the brokers");
      } catch (error) {
        failures += 1;
        // kafkajs asks for every topic that it was ever asked about: the missing one may be an older question's.
        const olderTopic = isTopicMissing(error) && failures === 1;
        // kafkajs takes offsets apart that it has not: of a topic whose leaders it does not know yet, as one that was
        // just made, and of a partition whose leader it lost between asking for the log's end and for its start.
        const incomplete = error instanceof TypeError;
        const passing = olderTopic || incomplete || isPassingFailure(error) || isDeadline(error);
        if (passing || isTopicMissing(error)) this.#discard(held);
        const isOver = clock.monotonicMs() >= giveUpAtMs || refusalOf(error) !== undefined;
        if (incomplete && isOver) throw lacksLeader(error);
        if (!passing || isOver) throw toPosthasteError(error, "asking KAFKA_BROKERS");
      }
      await pause(retryPauseMs(failures));
    }
  }

  /** Waits for nothing: a client that is being connected is destroyed when that ends. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#held !== null) this.#discard(this.#held);
  }

  async #connect(): Promise<ConnectedAdmin> {
    const { createClient, brokers } = this.#options;
    const client = createClient({
      brokers: rotate(brokers, this.#made),
      requestTimeoutMs: ANSWER_DEADLINE_MS,
    });
    this.#made += 1;
    const { admin, cluster } = createAdmin(client.kafka);
    try {
      await withDeadline(admin.connect(), CONNECT_DEADLINE_MS, "connecting to the brokers");
      return { client, admin, cluster };
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  #discard(held: Promise<ConnectedAdmin>): void {
    if (this.#held === held) this.#held = null;
    held.then(({ client }) => client.destroy()).catch(() => {});
  }
}

/** SA3. */
function lacksLeader(cause: TypeError): PosthasteError {
  const what = "asking KAFKA_BROKERS: a partition has no leader";
  return new PosthasteError("broker_unavailable", what, { retryable: true, cause });
}

function isDeadline(error: unknown): boolean {
  return error instanceof PosthasteError && error.code === "deadline_exceeded";
}
