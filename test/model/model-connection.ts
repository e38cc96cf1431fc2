/**
 * A process's connection to the model's brokers, in the shape that packages/kafka makes of kafkajs: members of groups,
 * readers without a group, and questions about topics.
 *
 * Owns: nothing that outlives the process. A request of a client that was destroyed meanwhile is answered by a cut
 * connection.
 */

import { SILENT_LOG } from "@posthaste/core/log";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { isConnectionError } from "./broker-errors.ts";
import type { Member } from "./member.ts";
import { type ConsumerSettings, createMember, type MemberRequestsOptions } from "./member-requests.ts";
import { type BrokerClient, type PartitionLeaders, type ProduceFault, ProduceRequests } from "./produce-requests.ts";
import { ReaderRequests } from "./reader-requests.ts";

type KafkaClient = ReturnType<KafkaConnection["createClient"]>;
type Admin = Parameters<Parameters<KafkaConnection["withAdmin"]>[0]>[0];
type Cluster = Parameters<Parameters<KafkaConnection["withAdmin"]>[0]>[1];

const ASK_AGAIN_MS = 100;

export class ModelConnection implements KafkaConnection {
  readonly brokers = ["model:9092"];
  readonly clientId = "model";
  readonly log = SILENT_LOG;
  readonly metrics = undefined;
  readonly #options: MemberRequestsOptions;
  readonly #members: Member[] = [];
  readonly #producing: ProduceRequests;
  readonly #reading: ReaderRequests;

  constructor(options: MemberRequestsOptions) {
    this.#options = options;
    this.#producing = new ProduceRequests(options);
    this.#reading = new ReaderRequests(options);
  }

  /** The next produce requests go wrong so. */
  failSends(faults: readonly ProduceFault[]): void {
    this.#producing.fail(faults);
  }

  /** Between the steps before a join and the join. */
  isJoining(groupId: string): boolean {
    return this.#members.some((member) => member.groupId === groupId && member.isJoining);
  }

  /** Faults stop. */
  mend(): void {
    this.#producing.mend();
    this.#reading.mend();
  }

  /** Readers get nothing for so long: tables lag. */
  holdReaders(forMs: number): void {
    this.#reading.hold(forMs);
  }

  createClient(): KafkaClient {
    let isGone = false;
    const kafka = {
      consumer: (settings: ConsumerSettings) => {
        const member = createMember(this.#options, settings, () => isGone);
        this.#members.push(member);
        return member;
      },
      [Symbol("private:Kafka:createCluster")]: () => this.#reading.createCluster(() => isGone),
    };
    const client = {
      kafka,
      destroy: () => {
        isGone = true;
      },
    };
    return client as unknown as KafkaClient;
  }

  /** A producer's client of one broker. */
  createBrokerClient(): BrokerClient {
    return this.#producing.createBrokerClient();
  }

  /** The leaders of the partitions of these topics: each of the brokers in turn. */
  leadersOf(topics: ReadonlySet<string>): PartitionLeaders {
    return this.#producing.leadersOf(topics);
  }

  /** Asked again until the brokers answer, as the shared admin client does. */
  async withAdmin<R>(use: (admin: Admin, cluster: Cluster) => Promise<R>): Promise<R> {
    const { log } = this.#options;
    const admin = {
      fetchTopicMetadata: ({ topics }: { readonly topics: readonly string[] }) =>
        this.#ask(() => ({
          topics: topics.map((name) => ({
            name,
            partitions: log.partitionsOf(name).map(({ partition }) => ({ partitionId: partition, leader: 0 })),
          })),
        })),
      fetchTopicOffsets: (topic: string) =>
        this.#ask(() =>
          log
            .partitionsOf(topic)
            .map(({ partition, end }) => ({ partition, low: "0", high: String(end), offset: String(end) })),
        ),
    };
    const cluster: Partial<Cluster> = {
      addMultipleTargetTopics: async () => {},
      refreshMetadata: () => this.#ask(() => undefined),
      findTopicPartitionMetadata: (topic) =>
        log.partitionsOf(topic).map(({ partition }) => ({ partitionId: partition, leader: 0 })),
      fetchTopicsOffset: (topics) =>
        this.#ask(() =>
          topics.map(({ topic, fromBeginning }) => ({
            topic,
            partitions: log
              .partitionsOf(topic)
              .map(({ partition, end }) => ({ partition, offset: fromBeginning ? "0" : String(end) })),
          })),
        ),
    };
    for (;;) {
      try {
        return await use(admin as unknown as Admin, cluster as Cluster);
      } catch (error) {
        if (!isConnectionError(error)) throw error;
        await new Promise<void>((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
      }
    }
  }

  unresponsiveBrokers(): readonly string[] {
    return [];
  }

  answeringBrokers(): readonly string[] {
    return this.brokers;
  }

  brokersState(): true {
    return true;
  }

  async close(): Promise<void> {}

  #ask<R>(serve: () => R): Promise<R> {
    return this.#options.network.ask<R>((answer) => answer.resolve(serve()));
  }
}
