/**
 * The requests of a process's producers to the model's brokers: leaders, and records to be written, well or as a fault
 * has it.
 *
 * Owns: the faults of the next produce requests.
 */
import type { GroupCommitProducerOptions, OutgoingRecord } from "@posthaste/kafka/producer/producer";
import { makeValue } from "@posthaste/kafka/producer/record-value";
import { type Random, wholeBetween } from "@posthaste/testkit/random";
import { connectionError } from "./broker-errors.ts";
import type { ModelLog } from "./model-log.ts";
import type { Network } from "./network.ts";
import type { World } from "./world.ts";

export type BrokerClient = ReturnType<GroupCommitProducerOptions["makeClient"]>;
export type PartitionLeaders = GroupCommitProducerOptions["leaders"];
type Batches = Parameters<BrokerClient["send"]>[0];
type PartitionAnswer = Awaited<ReturnType<BrokerClient["send"]>>[number];

/** How the next produce request goes wrong. `lost` is a fault that no broker has: acknowledged and not written. */
export type ProduceFault = "lost" | "answer_lost" | "written_late" | "refused" | "not_named" | "slow";

export interface ProduceRequestsOptions {
  readonly world: World;
  readonly random: Random;
  readonly log: ModelLog;
  readonly network: Network;
}

const BROKERS = 2;
/** Kafka's codes. */
const WRITTEN = 0;
const NOT_LEADER = 6;
const LATEST_WRITE_MS = 3000;

export class ProduceRequests {
  readonly #options: ProduceRequestsOptions;
  readonly #faults: ProduceFault[] = [];

  constructor(options: ProduceRequestsOptions) {
    this.#options = options;
  }

  /** The next produce requests go wrong so. */
  fail(faults: readonly ProduceFault[]): void {
    this.#faults.push(...faults);
  }

  /** Faults stop. */
  mend(): void {
    this.#faults.length = 0;
  }

  /** A producer's client of one broker. */
  createBrokerClient(): BrokerClient {
    const { network } = this.#options;
    let isGone = false;
    let isConnected = false;
    return {
      connect: () => {
        if (isConnected) return undefined;
        return network
          .ask<undefined>(
            (answer) => answer.resolve(undefined),
            () => isGone,
          )
          .then(() => {
            isConnected = true;
          });
      },
      send: (batches) => this.#send(batches, () => isGone),
      disconnect: () => Promise.resolve(),
      destroy: () => {
        isGone = true;
      },
    };
  }

  /** The leaders of the partitions of these topics: each of the brokers in turn. */
  leadersOf(topics: ReadonlySet<string>): PartitionLeaders {
    const { log, network } = this.#options;
    return {
      countOf: (topic) => (topics.has(topic) ? log.partitionsOf(topic).length : undefined),
      leaderOf: (_, partition) => ({ nodeId: partition % BROKERS, host: "model", port: 9092 + (partition % BROKERS) }),
      refresh: () => network.ask<undefined>((answer) => answer.resolve(undefined)).catch(() => undefined),
      close: () => undefined,
    };
  }

  #send(batches: Batches, isGone: () => boolean): Promise<readonly PartitionAnswer[]> {
    const { world, random, network } = this.#options;
    const fault = this.#faults.shift();
    // By the process's clock: CreateTime is the producer's.
    const timestampMs = Date.now();
    return network.ask<readonly PartitionAnswer[]>(({ resolve, reject }) => {
      const write = () => this.#write(batches, timestampMs);
      switch (fault) {
        case "lost":
          return resolve(answersTo(batches, WRITTEN));
        case "refused":
          return resolve(
            batches.flatMap((batch) =>
              random() < 0.5 ? this.#write([batch], timestampMs) : answersTo([batch], NOT_LEADER),
            ),
          );
        case "answer_lost":
          write();
          return reject(connectionError());
        case "written_late":
          world.after(wholeBetween(random, 1, LATEST_WRITE_MS), null, write);
          return reject(connectionError());
        case "not_named":
          return resolve(batches.flatMap((batch) => this.#answerOrLeaveOut(batch, timestampMs)));
        case "slow":
          return world.after(wholeBetween(random, 1, LATEST_WRITE_MS), null, () => resolve(write()));
        case undefined:
          return resolve(write());
      }
    }, isGone);
  }

  /** P3: a partition that the answer does not name may be written or not. */
  #answerOrLeaveOut(batch: Batches[number], timestampMs: number): readonly PartitionAnswer[] {
    const chance = this.#options.random();
    const answers = chance < 0.6 ? this.#write([batch], timestampMs) : [];
    return chance < 0.3 ? answers : [];
  }

  #write(batches: Batches, timestampMs: number): readonly PartitionAnswer[] {
    for (const { topic, partition, records } of batches) {
      for (const { key, value, headers } of records) {
        this.#options.log.append(topic, partition, {
          key,
          value: makeValue(value),
          headers: textOf(headers),
          timestampMs,
        });
      }
    }
    return answersTo(batches, WRITTEN);
  }
}

function answersTo(batches: Batches, errorCode: number): readonly PartitionAnswer[] {
  return batches.map(({ topic, partition }) => ({ topicName: topic, partition, errorCode }));
}

/** The model's services write no other headers. */
function textOf(headers: OutgoingRecord["headers"] = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
