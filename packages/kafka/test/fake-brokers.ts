/** Brokers behind a producer: the requests sent to them, the connection of each, and the fate of each request. */

import type { PartitionAnswer } from "../src/kafkajs/kafkajs-internals.ts";
import type { BrokerClient } from "../src/producer/broker-client.ts";
import type { BrokerPlace, PartitionLeaders } from "../src/producer/partition-leaders.ts";
import type { PartitionBatch } from "../src/producer/partition-queue.ts";

export type Respond = (batches: readonly PartitionBatch[]) => Promise<readonly PartitionAnswer[]>;

export interface SentRequest {
  /** The n-th connection that was made, n from 0. */
  readonly client: number;
  readonly nodeId: number;
  readonly values: readonly string[];
  readonly partitions: readonly number[];
  /** How long the broker waits for its replicas. */
  readonly timeoutMs: number;
}

export const PARTITIONS = 4;

export const never = () => new Promise<never>(() => {});

/** An answer with a code for each partition, 0 where `codeOf` says nothing else; undefined leaves it out. */
export function answerFor(
  batches: readonly PartitionBatch[],
  codeOf: (partition: number) => number | undefined = () => 0,
): readonly PartitionAnswer[] {
  return batches.flatMap(({ topic, partition }) => {
    const errorCode = codeOf(partition);
    return errorCode === undefined ? [] : [{ topicName: topic, partition, errorCode }];
  });
}

/** Answers so whatever it is sent. */
export function answering(codeOf: (partition: number) => number | undefined): Respond {
  return async (batches) => answerFor(batches, codeOf);
}

export class FakeBrokers {
  readonly requests: SentRequest[] = [];
  readonly destroyed: number[] = [];
  readonly disconnected: number[] = [];
  /** Node ids of the leaders by partition; null is none. */
  readonly leaders: (number | null)[] = Array.from({ length: PARTITIONS }, () => 1);
  connect: () => Promise<void> = async () => {};
  /** Used up one by one; when it is empty `respond` answers. */
  readonly script: Respond[] = [];
  respond: Respond = async (batches) => answerFor(batches);
  onDestroyed: (client: number) => void = () => {};
  #made = 0;

  readonly makeClient = ({ nodeId }: BrokerPlace): BrokerClient => {
    const client = this.#made++;
    return {
      connect: () => this.connect(),
      send: (batches, timeoutMs) => {
        const values = batches.flatMap(({ records }) => records.map(({ value }) => String(value)));
        const partitions = batches.map(({ partition }) => partition);
        this.requests.push({ client, nodeId, values, partitions, timeoutMs });
        return (this.script.shift() ?? this.respond)(batches);
      },
      disconnect: async () => {
        this.disconnected.push(client);
      },
      destroy: () => {
        this.destroyed.push(client);
        this.onDestroyed(client);
      },
    };
  };

  /** A picture that is as old as the last `refresh`. */
  get picture(): PartitionLeaders {
    let known = [...this.leaders];
    return {
      countOf: (topic) => (topic === "t" ? this.leaders.length : undefined),
      leaderOf: (_, partition) => {
        const nodeId = known[partition] ?? null;
        return nodeId === null ? undefined : { nodeId, host: "h", port: nodeId };
      },
      refresh: async () => {
        known = [...this.leaders];
      },
      close: () => {},
    };
  }

  get values(): (readonly string[])[] {
    return this.requests.map(({ values }) => values);
  }
}
