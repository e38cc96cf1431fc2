/** Asks a cluster which broker has which role, and answers brokers' names (`kafka-1` …) to fault tests. */
import { quietKafkajs } from "@posthaste/testkit/quiet-kafkajs";
import { type Admin, type ITopicMetadata, Kafka, logLevel } from "kafkajs";
import { readActiveController, readCommittedSum, readGroupCoordinator } from "./kafka-wire.ts";
import type { OperatorTls } from "./operator-tls.ts";

const TIMEOUT_MS = 2_000;

export interface ClusterView {
  /** The broker that leads the partition; undefined while none does. */
  readonly leaderOf: (topic: string, partition: number) => Promise<string | undefined>;
  /** The broker that coordinates the consumer group. */
  readonly coordinatorOf: (groupId: string) => Promise<string>;
  /** The broker whose controller is the active one. */
  readonly activeController: () => Promise<string>;
  /** Every partition of every topic, Kafka's own among them. */
  readonly partitions: () => Promise<readonly PartitionView[]>;
  /** The group's committed offsets added up, as its coordinator has them. */
  readonly committedSum: (groupId: string) => Promise<number>;
}

export interface PartitionView {
  readonly topic: string;
  readonly partition: number;
  /** The partition's leader; undefined while it has none. */
  readonly leader: string | undefined;
  readonly replicas: readonly string[];
  readonly inSync: readonly string[];
}

export interface ClusterAddresses {
  /** `host:port` of the brokers to ask. */
  readonly brokers: readonly string[];
  /**
   * `host:port` of the controllers. A broker passes the question for the active controller on to the one that it knows,
   * and says nothing for as long as that one hangs; so each controller is asked for itself.
   */
  readonly controllers: readonly string[];
  /** The operator's certificate, for brokers that authenticate their clients. */
  readonly tls?: OperatorTls;
}

/** A view of the cluster; each question opens and closes its own connection. */
export function createClusterView({ brokers, controllers, tls }: ClusterAddresses): ClusterView {
  return {
    leaderOf: (topic, partition) =>
      firstAnswer(brokers, (address) =>
        withAdmin({ address, tls }, async (admin) => {
          const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
          const found = topics[0]?.partitions.find((candidate) => candidate.partitionId === partition);
          return found === undefined || found.leader < 0 ? undefined : brokerName(found.leader);
        }),
      ),
    coordinatorOf: async (groupId) =>
      brokerName(await firstAnswer(brokers, (address) => readGroupCoordinator(address, groupId, tls))),
    activeController: async () =>
      brokerName(await firstAnswer(controllers, (address) => readActiveController(address, tls))),
    partitions: () =>
      firstAnswer(brokers, (address) =>
        withAdmin({ address, tls }, async (admin) =>
          (await admin.fetchTopicMetadata()).topics.flatMap(toPartitionViews),
        ),
      ),
    committedSum: (groupId) => firstAnswer(brokers, (address) => readCommittedSum(address, groupId, tls)),
  };
}

/** True when the broker at `address` answers and counts node `id` among the cluster's brokers. */
export function brokerIsInCluster(address: string, id: number, tls?: OperatorTls): Promise<boolean> {
  return withAdmin({ address, tls }, async (admin) => {
    const cluster = await admin.describeCluster();
    return cluster.brokers.some((broker) => broker.nodeId === id);
  });
}

function toPartitionViews({ name, partitions }: ITopicMetadata): readonly PartitionView[] {
  return partitions.map(({ partitionId, leader, replicas, isr }) => ({
    topic: name,
    partition: partitionId,
    leader: leader < 0 ? undefined : brokerName(leader),
    replicas: replicas.map(brokerName),
    inSync: isr.map(brokerName),
  }));
}

function brokerName(nodeId: number): string {
  return `kafka-${nodeId}`;
}

interface AdminAddress {
  readonly address: string;
  readonly tls: OperatorTls | undefined;
}

// This takes a single address, since without retries kafkajs asks only the first broker that it was given.
export async function withAdmin<T>({ address, tls }: AdminAddress, work: (admin: Admin) => Promise<T>): Promise<T> {
  quietKafkajs();
  const kafka = new Kafka({
    clientId: "local-stack",
    brokers: [address],
    ...(tls ? { ssl: { ...tls } } : {}),
    logLevel: logLevel.NOTHING,
    connectionTimeout: TIMEOUT_MS,
    requestTimeout: TIMEOUT_MS,
    retry: { retries: 0 },
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Asks all addresses at once and answers the first answer. Rejects when no address answers. */
function firstAnswer<T>(addresses: readonly string[], ask: (address: string) => Promise<T>): Promise<T> {
  return Promise.any(addresses.map(ask));
}
