/**
 * The users of each audience, as this process knows them: a cache of `posthaste.audiences`, which is asked after it has
 * read the topic to its end.
 *
 * Owns: the table and the follower that fills it.
 * - No other part of control waits for the membership: it is opened beside the start, and while it cannot be asked
 *   only questions about it are refused.
 * - Any failure ends both table and follower, and they are opened again after a pause: one way back from every
 *   state.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { MembershipRecord } from "@posthaste/core/audience/membership";
import { PosthasteError } from "@posthaste/core/errors";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { pause, withDeadline } from "@posthaste/kafka/connection/deadline";
import { readTopicIds } from "@posthaste/kafka/connection/topic-id";
import { type KeptOpen, keepOpen } from "@posthaste/read-model/keep-open";
import { type MembershipClient, openMembershipTable } from "./membership-client.ts";
import { MembershipFollower } from "./membership-follower.ts";

const REOPEN_MS = 2000;

export interface MembershipOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly codec: Codec<MembershipRecord>;
  /** The database's file, or `TEMPORARY_FILE`; null for memory. */
  readonly path: string | null;
  /** See MembershipFollowerOptions. */
  readonly unknownSchemaMs: number;
  /** Called when records were taken, which may have made users stale (U3); at most once for each batch. */
  readonly onTaken: () => void;
}

interface Opened {
  readonly table: MembershipClient;
  readonly follower: MembershipFollower;
}

export class Membership {
  readonly #options: MembershipOptions;
  readonly #kept: KeptOpen;
  #opened: Opened | null = null;
  /** Resolves when the membership is open; a new promise after each failure. */
  #opening = Promise.withResolvers<Opened>();

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#kept = keepOpen({
      run: (signal) => this.#runOnce(signal),
      isWhole: () => true,
      pause: (signal) => pause(REOPEN_MS, signal),
      onFailed: (err) => {
        options.connection.log.error({ event: "membership_failed", err }, "the audiences' membership is opened again");
      },
    });
  }

  /** The table. Throws `table_not_caught_up` while it is not open. */
  get table(): MembershipClient {
    if (this.#opened !== null) return this.#opened.table;
    const what = "the audiences' membership is being opened: try again soon";
    throw new PosthasteError("table_not_caught_up", what, { retryable: true });
  }

  /**
   * Resolves with the table when it is open and has read the topic's end of this moment. Rejects with
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

  close(): Promise<void> {
    return this.#kept.close();
  }

  /**
   * Opens the table and follows the topic. Resolves when `signal` ends that, with everything closed; rejects when
   * something failed.
   */
  async #runOnce(signal: AbortSignal): Promise<void> {
    const { connection, topic, path } = this.#options;
    const { clusterId } = await connection.withAdmin((admin) => admin.describeCluster());
    // Positions of another topic of this name would mean nothing.
    const topicId = (await readTopicIds(connection, [topic], { signal })).get(topic) ?? "";
    if (signal.aborted) return;
    const ended = Promise.withResolvers<void>();
    // When the table fails while it is opened, opening it reports that.
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
