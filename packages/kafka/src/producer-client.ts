/**
 * The kafkajs client of the moment, and its replacement (rule P2).
 *
 * kafkajs's retrier goes on after `disconnect()` and its requests hang with a hung broker, so after a rejection or a missed
 * deadline the whole client is thrown away: its sockets are destroyed and nothing of it is waited for. The next one's list
 * of brokers starts with another.
 */
import { PosthasteError } from "@posthaste/core/errors";
import { withDeadline } from "./deadline.ts";
import type { Batch } from "./group-commit.ts";
import { isTimedOut } from "./kafka-errors.ts";
import type { PartitionAnswer } from "./kafkajs-internals.ts";

/** A client that sends; tests give a false one. */
export interface SendingClient {
  connect(): Promise<void>;
  /** Resolves with what every partition came to that was sent; brokers wait for their replicas at most `timeoutMs`. */
  sendBatch(batch: Batch, timeoutMs: number): Promise<readonly PartitionAnswer[]>;
  disconnect(): Promise<void>;
  /** Destroys its sockets. */
  destroy(): void;
}

/** Makes the n-th client, n from 0. */
export type MakeSendingClient = (made: number) => SendingClient;

export const CONNECT_DEADLINE_MS = 5000;
export const FIRST_SEND_DEADLINE_MS = 10_000;
export const LAST_SEND_DEADLINE_MS = 60_000;
/** An orderly goodbye takes milliseconds; a broker that does not answer it is left. */
const DISCONNECT_DEADLINE_MS = 1000;

export class ReplaceableClient {
  readonly #make: MakeSendingClient;
  #client: SendingClient | null = null;
  #made = 0;
  /** Doubled after each silent failure, so that a slow cluster is no livelock; the first again after a success. */
  #sendDeadlineMs = FIRST_SEND_DEADLINE_MS;

  constructor(make: MakeSendingClient) {
    this.#make = make;
  }

  /** How long the next send may take. */
  get sendDeadlineMs(): number {
    return this.#sendDeadlineMs;
  }

  /** Connects when needed. Rejects when the client failed; `replace` it then. */
  async sendBatch(batch: Batch): Promise<readonly PartitionAnswer[]> {
    const client = this.#client ?? (await this.#connect());
    const deadlineMs = this.#sendDeadlineMs;
    try {
      const answer = await withDeadline(client.sendBatch(batch, deadlineMs), deadlineMs, "sending records");
      this.#sendDeadlineMs = FIRST_SEND_DEADLINE_MS;
      return answer;
    } catch (error) {
      // The brokers' own deadline for their replicas is as long, and either may be the first to end.
      const silent = (error instanceof PosthasteError && error.code === "deadline_exceeded") || isTimedOut(error);
      if (silent) this.#sendDeadlineMs = Math.min(2 * deadlineMs, LAST_SEND_DEADLINE_MS);
      throw error;
    }
  }

  /** Throws the client away; the next send makes another. */
  replace(): void {
    this.#client?.destroy();
    this.#client = null;
  }

  /** Says goodbye to the brokers, at most `DISCONNECT_DEADLINE_MS`. */
  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    if (client === null) return;
    await withDeadline(client.disconnect(), DISCONNECT_DEADLINE_MS, "disconnecting").catch(() => {});
    client.destroy();
  }

  async #connect(): Promise<SendingClient> {
    const client = this.#make(this.#made);
    this.#made += 1;
    this.#client = client;
    await withDeadline(client.connect(), CONNECT_DEADLINE_MS, "connecting a producer");
    return client;
  }
}
