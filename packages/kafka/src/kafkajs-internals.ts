/**
 * The parts of kafkajs below its public API that this package leans on, typed as far as they are used. kafkajs is pinned to
 * one version, and `createCluster` fails at once when a part is not where it was.
 */
import { PosthasteError } from "@posthaste/core/errors";
import type { Kafka } from "kafkajs";

/** kafkajs's picture of the cluster and its connections. Rejections are kafkajs's errors. */
export interface Cluster {
  connect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  refreshMetadata(): Promise<void>;
  /** Throws before the topic's metadata was loaded; leaves out partitions that it does not know. */
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, readonly number[]>>;
  findBroker(options: { readonly nodeId: string }): Promise<Broker>;
  fetchTopicsOffset(topics: readonly TopicOffsetsQuery[]): Promise<readonly TopicOffsets[]>;
}

export interface TopicOffsetsQuery {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
  /** True for the log's start, false for its end. */
  readonly fromBeginning: boolean;
}

export interface TopicOffsets {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
}

export interface Broker {
  fetch(request: FetchRequest): Promise<FetchResponse>;
}

export interface FetchRequest {
  readonly maxWaitTime: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  /** 0: records of open transactions too. */
  readonly isolationLevel: 0 | 1;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly fetchOffset: string;
      readonly maxBytes: number;
    }[];
  }[];
}

export interface FetchResponse {
  readonly responses: readonly {
    readonly topicName: string;
    readonly partitions: readonly FetchedPartition[];
  }[];
}

export interface FetchedPartition {
  readonly partition: number;
  readonly highWatermark: string;
  readonly messages: readonly FetchedMessage[];
}

export interface FetchedMessage {
  readonly offset: string;
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | string | (Buffer | string)[]>>;
  readonly isControlRecord: boolean;
  readonly batchContext: { readonly firstOffset: string; readonly lastOffsetDelta: number };
}

const CREATE_CLUSTER = "private:Kafka:createCluster";
const METADATA_MAX_AGE_MS = 5 * 60_000;

/** A cluster of its own for a reader without a group, which kafkajs's public API has no room for. */
export function createCluster(kafka: Kafka): Cluster {
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === CREATE_CLUSTER);
  const create: unknown = symbol && Reflect.get(kafka, symbol);
  if (typeof create !== "function") throw new PosthasteError("internal", `this kafkajs has no ${CREATE_CLUSTER}`);
  return create({ metadataMaxAge: METADATA_MAX_AGE_MS, allowAutoTopicCreation: false });
}
