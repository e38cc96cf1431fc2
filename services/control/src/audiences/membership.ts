/**
 * Who is in which audience, as this process knows it: a cache of `posthaste.audiences`, which is asked after it has
 * read the topic to its end.
 *
 * Owns: the table and the follower that fills it.
 * MQ1  Nothing else of control waits for it: it is opened beside the start, and while it cannot be asked only its own
 *      questions are refused.
 * MQ2  Whatever goes wrong in it ends all of it, and it is opened again after a pause: one way back, from every state.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Codec } from "@posthaste/contracts/codec";
import type { MembershipRecord } from "@posthaste/core/audience/membership";
import { PosthasteError } from "@posthaste/core/errors";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import { readTopicIds } from "@posthaste/kafka/connection/topic-id";
import { type MembershipClient, openMembershipTable } from "./membership-client.ts";
import { MembershipFollower } from "./membership-follower.ts";

const REOPEN_MS = 2000;
/** Longer is not waited for at the end: whatever is not written is read again. */
const CLOSE_MS = 2000;

export interface MembershipOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly codec: Codec<MembershipRecord>;
  /** The database's file, or `TEMPORARY_FILE`; null for memory. */
  readonly path: string | null;
  /** See MembershipFollowerOptions. */
  readonly unknownSchemaMs: number;
  /** Users may have to be written again (U3). Called at most once a batch of records. */
  readonly onTaken: () => void;
}

interface Opened {
  readonly table: MembershipClient;
  readonly follower: MembershipFollower;
}

export class Membership {
  readonly #options: MembershipOptions;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #opened: Opened | null = null;
  /** Resolves when it is open, anew after each failure. */
  #opening = Promise.withResolvers<Opened>();

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Throws `table_not_caught_up` while it cannot be asked. */
  get table(): MembershipClient {
    if (this.#opened !== null) return this.#opened.table;
    const what = "the audiences' membership is being opened: try again soon";
    throw new PosthasteError("table_not_caught_up", what, { retryable: true });
  }

  /**
   * Resolves when all that stands in the topic now is in the table, which is waited for too. Rejects with
   * `deadline_exceeded`.
   */
  async refresh(timeoutMs: number): Promise<MembershipClient> {
    const giveUpAtMs = performance.now() + timeoutMs;
    const { table, follower } = await withDeadline(
      this.#opening.promise,
      timeoutMs,
      "opening the audiences' membership",
    );
    await follower.refresh(Math.max(0, giveUpAtMs - performance.now()));
    return table;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const enough = new AbortController();
    await Promise.race([this.#running, delay(CLOSE_MS, undefined, { signal: enough.signal }).catch(() => undefined)]);
    enough.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#runOnce(signal);
      } catch (error) {
        const fields = { event: "membership_failed", err: error };
        this.#options.connection.log.error(fields, "the audiences' membership is opened again");
      }
      if (!signal.aborted) await delay(REOPEN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /**
   * Opens the table, follows the topic, and resolves when `signal` says so, everything closed; rejects when something
   * failed.
   */
  async #runOnce(signal: AbortSignal): Promise<void> {
    const { connection, topic, path } = this.#options;
    const { clusterId } = await connection.withAdmin((admin) => admin.describeCluster());
    // Positions in another topic of the name would mean nothing.
    const topicId = (await readTopicIds(connection, [topic], { signal })).get(topic) ?? "";
    if (signal.aborted) return;
    const ended = Promise.withResolvers<void>();
    // Where the table fails while it is opened, that says so.
    ended.promise.catch(() => undefined);
    signal.addEventListener("abort", () => ended.resolve());
    const table = await openMembershipTable({ path, identity: `${clusterId}/${topic}/${topicId}` }, ended.reject);
    const { trouble } = table.start;
    if (trouble !== null) connection.log.warn({ event: "membership_not_kept", reason: trouble });
    const follower = new MembershipFollower(connection, { ...this.#options, topicId, table });
    this.#opened = { table, follower };
    this.#opening.resolve(this.#opened);
    try {
      if (!signal.aborted) await ended.promise;
    } finally {
      this.#opened = null;
      this.#opening = Promise.withResolvers();
      await follower.close();
      await table.close();
    }
  }
}
