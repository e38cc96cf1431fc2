/**
 * Looks for an event that has left no trace in the logs yet. It reads the records of `posthaste.events` that the router
 * has not finished, and the records of `posthaste.deliveries` that delivery has not finished.
 *
 * Owns: the queue of searches.
 * - One search runs at a time in a process, and at most `MAX_WAITING` wait for their turn: a further caller is told
 *   that the search is busy. A caller who leaves ends their search, or their waiting.
 * PS2  A search looks at `MAX_RECORDS` records and takes `MAX_MS` ms at the most, and says where it stopped.
 * PS3  A search asks for the unfinished ranges of the events before it asks for the ends of the deliveries: an event
 *      that the router finishes meanwhile is then among the deliveries.
 * - A search reads few partitions at a time, so that a topic of many partitions takes no more memory.
 */
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { Event } from "@posthaste/core/event/event";
import { Lanes } from "@posthaste/core/lanes";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import { partitionOf } from "@posthaste/kafka/wire/murmur2";
import { type FindingsOptions, PipelineFindings, type StoppedRange } from "./pipeline-findings.ts";
import { type UnfinishedRange, unfinishedRanges } from "./unfinished-range.ts";

const MAX_RECORDS = 100_000;
const MAX_MS = 2000;
const MAX_WAITING = 4;
const READERS = 4;

export interface PipelineQuestion {
  readonly messageId: string;
  /**
   * The keys that the event's record may have; null where they are not known; empty where the search does not look for
   * the event.
   */
  readonly eventKeys: readonly string[] | null;
  /** The keys that the records of the event's deliveries may have, as `eventKeys`. */
  readonly deliveryKeys: readonly string[] | null;
}

export interface PipelineAnswer extends Pick<PipelineFindings, "events" | "deliveries" | "records"> {
  /**
   * `searched`: every range was read; `stopped`: a bound of PS2 ended the search early; `busy`: too many others search;
   * `failed`: the brokers did not answer.
   */
  readonly state: "searched" | "stopped" | "busy" | "failed";
  readonly stopped: readonly StoppedRange[];
}

export interface PipelineSearchOptions extends FindingsOptions {
  readonly names: TopicNames;
  /** Default `MAX_RECORDS`. */
  readonly maxRecords?: number;
  /** Default `MAX_MS`. */
  readonly maxMs?: number;
}

export async function openPipelineSearch({
  openCodec,
  ...options
}: Omit<PipelineSearchOptions, "events" | "deliveries"> & { readonly openCodec: OpenCodec }): Promise<PipelineSearch> {
  const [events, deliveries] = await Promise.all([openCodec<Event>("event"), openCodec<Delivery>("delivery")]);
  return new PipelineSearch({ ...options, events, deliveries });
}

export class PipelineSearch {
  readonly #options: PipelineSearchOptions;
  readonly #lanes = new Lanes();
  #inTurn = 0;

  constructor(options: PipelineSearchOptions) {
    this.#options = options;
  }

  /** Rejects with the reason of `signal` when that is aborted; any other failure is an answer. */
  async find(question: PipelineQuestion, signal: AbortSignal): Promise<PipelineAnswer> {
    if (this.#inTurn > MAX_WAITING) return nothingFound("busy");
    this.#inTurn += 1;
    try {
      return await this.#lanes.inTurn("", () => this.#search(question, signal));
    } finally {
      this.#inTurn -= 1;
    }
  }

  async #search(question: PipelineQuestion, signal: AbortSignal): Promise<PipelineAnswer> {
    signal.throwIfAborted();
    const { connection, maxRecords = MAX_RECORDS, maxMs = MAX_MS } = this.#options;
    const enough = AbortSignal.any([signal, AbortSignal.timeout(maxMs)]);
    const findings = new PipelineFindings(question.messageId, maxRecords, this.#options);
    try {
      const { events, deliveries } = await withDeadline(this.#rangesFor(question), maxMs, "asking for the commits");
      const left = [
        ...events.map((range) => () => findings.readEvents(range, enough)),
        ...deliveries.map((range) => () => findings.readDeliveries(range, enough)),
      ].values();
      const readInTurn = async (): Promise<void> => {
        for (const read of left) await read();
      };
      await Promise.all(Array.from({ length: READERS }, readInTurn));
      signal.throwIfAborted();
      const stopped = findings.stoppedAmong([...events, ...deliveries]);
      const { records } = findings;
      const state = stopped.length === 0 ? "searched" : "stopped";
      return { state, stopped, records, events: findings.events, deliveries: findings.deliveries };
    } catch (error) {
      signal.throwIfAborted();
      connection.log.warn({ event: "pipeline_not_searched", err: error });
      return nothingFound("failed");
    }
  }

  /** PS3. */
  async #rangesFor({ eventKeys, deliveryKeys }: PipelineQuestion) {
    const { names } = this.#options;
    const events = await this.#unfinished({ topic: names.events, groupId: names.routerGroup }, eventKeys);
    const delivered = { topic: names.deliveries, groupId: names.deliveryGroup };
    return { events, deliveries: await this.#unfinished(delivered, deliveryKeys) };
  }

  async #unfinished(
    reader: { readonly topic: string; readonly groupId: string },
    keys: readonly string[] | null,
  ): Promise<readonly UnfinishedRange[]> {
    if (keys?.length === 0) return [];
    const all = await unfinishedRanges(this.#options.connection, reader);
    if (keys === null) return all;
    const partitions = new Set(keys.map((key) => partitionOf(Buffer.from(key), all.length)));
    return all.filter(({ partition }) => partitions.has(partition));
  }
}

function nothingFound(state: PipelineAnswer["state"]): PipelineAnswer {
  return { state, events: [], deliveries: [], records: 0, stopped: [] };
}
