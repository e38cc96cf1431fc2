/**
 * The one admin client of a connection, which all its users share.
 *
 * Owns: that client, while it is connected.
 * SA1  The first question connects the client. When its connection fails, the client is thrown away, and the next try
 *      makes another, whose list of brokers begins one further on.
 * SA2  A question whose failure may pass is repeated for `patienceMs`, which is longer than an election takes: so only
 *      questions that are safe to repeat belong here. A refusal of this process (its certificate or its login) outlasts
 *      any patience and is reported at once.
 * SA3  When the patience ends, the failure is reported as retryable, whatever error kafkajs made of it: a caller that
 *      can wait longer asks again.
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

/** In ms. An election takes 3 to 5 s with the broker session settings of rule P4. */
export const ADMIN_PATIENCE_MS = 8000;
const CONNECT_DEADLINE_MS = 5000;
/** In ms. Making topics takes seconds on a loaded machine; every other question takes milliseconds. */
const ANSWER_DEADLINE_MS = 15_000;

export interface SharedAdminOptions {
  readonly createClient: (options: ClientOptions) => KafkaClient;
  readonly brokers: readonly string[];
  /** How long a question is repeated, in ms. Default `ADMIN_PATIENCE_MS`. */
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
  #clientsMade = 0;
  #closed = false;

  constructor({ patienceMs = ADMIN_PATIENCE_MS, clock = SYSTEM_CLOCK, ...options }: SharedAdminOptions) {
    this.#options = { ...options, patienceMs, clock };
  }

  /** Asks one question; connects first where needed. Rejects with a PosthasteError, `closed` after `close`. */
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
        // kafkajs asks for every topic that it was ever asked about, so the missing topic may be an earlier question's.
        const olderTopic = isTopicMissing(error) && failures === 1;
        // kafkajs throws a TypeError when it reads offsets that it does not have: of a topic whose leaders it does not
        // know yet, such as a new one, and of a partition that lost its leader between the questions for the log's end
        // and its start.
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

  /** Resolves at once. A client that is still connecting is destroyed when its connect ends. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#held !== null) this.#discard(this.#held);
  }

  async #connect(): Promise<ConnectedAdmin> {
    const { createClient, brokers } = this.#options;
    const client = createClient({
      brokers: rotate(brokers, this.#clientsMade),
      requestTimeoutMs: ANSWER_DEADLINE_MS,
    });
    this.#clientsMade += 1;
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

/** The retryable failure for kafkajs's TypeError (SA3). */
function lacksLeader(cause: TypeError): PosthasteError {
  const what = "asking KAFKA_BROKERS: a partition has no leader";
  return new PosthasteError("broker_unavailable", what, { retryable: true, cause });
}

function isDeadline(error: unknown): boolean {
  return error instanceof PosthasteError && error.code === "deadline_exceeded";
}
