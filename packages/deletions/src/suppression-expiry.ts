/**
 * Ends the suppressions whose time is over. Once a day it reads the whole topic, since no process holds when each ends.
 *
 * Owns: the timer, and the pass that is under way.
 * SX1  A suppression is ended only when its newest record says that it is over. A record that is written while a pass
 *      runs stays in force. The end has the next revision after the record that was found, and every record written
 *      since has a higher one.
 * SX2  A pass holds at most `MAX_FOUND` keys; where there are more, another pass follows at once.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Codec } from "@posthaste/contracts/codec";
import { headerText, REVISION_HEADER } from "@posthaste/contracts/headers";
import type { SuppressedUsers, Suppression } from "@posthaste/core/deletion/suppression";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { endOffset } from "@posthaste/kafka/connection/topic-offsets";
import { readRange } from "@posthaste/kafka/log/read-range";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { SuppressionWriter } from "./suppression-writer.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * The time from the start to the first pass, in ms, so that a process that ends again and again does not do only this.
 */
const FIRST_MS = 60_000;
const MAX_FOUND = 100_000;

export interface SuppressionExpiryOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly codec: Codec<Suppression>;
  readonly suppressed: Pick<SuppressedUsers, "size">;
  readonly writer: Pick<SuppressionWriter, "endFound">;
  readonly clock: Clock;
  /** The time from the start to the first pass, in ms; default a minute. */
  readonly firstMs?: number;
}

export class SuppressionExpiry {
  readonly #options: SuppressionExpiryOptions;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: SuppressionExpiryOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#runDaily();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** Never rejects. */
  async #runDaily(): Promise<void> {
    const { connection, suppressed, firstMs = FIRST_MS } = this.#options;
    const { signal } = this.#closing;
    const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
    for (await pause(firstMs); !signal.aborted; await pause(DAY_MS)) {
      if (suppressed.size === 0) continue;
      try {
        const ended = await this.#endAll();
        connection.log.info({ event: "suppressions_ended", ended });
      } catch (error) {
        if (!signal.aborted)
          connection.log.warn({ event: "suppressions_not_ended", err: error }, "tried again tomorrow");
      }
    }
  }

  /** Ends all suppressions that are over. Returns how many. */
  async #endAll(): Promise<number> {
    let ended = 0;
    for (;;) {
      const found = await this.#find();
      await this.#options.writer.endFound(found);
      ended += found.length;
      if (found.length < MAX_FOUND || this.#closing.signal.aborted) return ended;
    }
  }

  /** Reads the topic once, and answers the suppressions that are over (SX2). */
  async #find(): Promise<readonly { readonly key: string; readonly revision: number }[]> {
    const { connection, topic } = this.#options;
    const over = new Map<string, number>();
    const range = { topic, partition: 0, start: 0, end: await endOffset(connection, topic) };
    for await (const records of readRange(connection, range, this.#closing.signal)) {
      for (const record of records) await this.#note(record, over);
    }
    return [...over].map(([key, revision]) => ({ key, revision }));
  }

  /** SX1: notes a record; a later record of the key replaces it. */
  async #note({ key, value, headers }: IncomingRecord, over: Map<string, number>): Promise<void> {
    if (key === null) return;
    const { codec, clock } = this.#options;
    over.delete(key.toString());
    if (value === null || over.size >= MAX_FOUND) return;
    await codec.prefetch(value);
    const { endsAtMs } = codec.decode(value);
    if (endsAtMs === null || endsAtMs > clock.nowMs()) return;
    over.set(key.toString(), Number(headerText(headers, REVISION_HEADER) ?? 0));
  }
}
