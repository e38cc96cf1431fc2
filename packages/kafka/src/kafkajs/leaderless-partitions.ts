/**
 * A partition without a leader must not hide the others (rule P1). kafkajs refuses metadata in which a partition that
 * it asked for has no leader: until the last partition has a leader again, no client connects, finds an offset, reads
 * or writes. This patch makes kafkajs take such metadata:
 *
 * LP1  A partition without a leader counts among the topic's partitions, so that keys keep their partitions, and is
 *      left out of the answer where a caller asks for leaders.
 * LP2  An answer about offsets names every topic of the question, also a topic whose partitions all lack a leader:
 *      kafkajs's consumer reads a topic's part of the answer without checking that it is there.
 * LP3  kafkajs reads metadata without some leader again after `LEADERLESS_MAX_AGE_MS`, since leaders come back in
 *      seconds.
 */
import { createRequire } from "node:module";

interface PartitionMetadata {
  readonly partitionErrorCode: number;
  readonly leader: number;
}

interface MetadataAnswer {
  readonly topicMetadata: readonly {
    readonly topicErrorCode: number;
    readonly partitionMetadata: readonly PartitionMetadata[];
  }[];
}

interface MetadataResponse {
  parse(answer: MetadataAnswer): Promise<MetadataAnswer>;
}

/** The part of kafkajs's BrokerPool that is used here. */
interface BrokerPool {
  metadata: MetadataAnswer | null;
  metadataExpireAt: number | null;
  refreshMetadata(topics: readonly string[]): Promise<null>;
}

interface OffsetsOfTopic {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
}

/** The part of kafkajs's Cluster that is used here. */
interface Cluster {
  findLeaderForPartitions: LeadersOf;
  fetchTopicsOffset(topics: readonly { readonly topic: string }[]): Promise<readonly OffsetsOfTopic[]>;
}

type LeadersOf = (topic: string, partitions: readonly number[]) => Readonly<Record<string, readonly number[]>>;

const VERSIONS = [0, 1, 2, 3, 4, 5, 6] as const;
/** The number by which kafkajs says that a partition has no leader. */
const NO_LEADER = "-1";
export const LEADERLESS_MAX_AGE_MS = 500;

const require = createRequire(import.meta.url);
let isDone = false;

/** Changes kafkajs for the whole process; a second call changes nothing. */
export function takeLeaderlessPartitions(): void {
  if (isDone) return;
  isDone = true;
  const {
    createErrorFromCode,
  }: { createErrorFromCode(code: number): Error } = require("kafkajs/src/protocol/error.js");
  for (const version of VERSIONS) {
    const response: MetadataResponse = require(`kafkajs/src/protocol/requests/metadata/v${version}/response.js`);
    response.parse = async (answer) => {
      const failed = answer.topicMetadata.find(({ topicErrorCode }) => topicErrorCode !== 0);
      if (failed !== undefined) throw createErrorFromCode(failed.topicErrorCode);
      return answer;
    };
  }
  leaveOutLeaderless();
  expireLeaderlessMetadata();
}

function leaveOutLeaderless(): void {
  const { prototype }: { prototype: Cluster } = require("kafkajs/src/cluster/index.js");
  const { findLeaderForPartitions, fetchTopicsOffset } = prototype;
  // Leaves out partitions without a leader (LP1).
  prototype.findLeaderForPartitions = function (this: Cluster, topic, partitions) {
    const { [NO_LEADER]: _, ...led } = findLeaderForPartitions.call(this, topic, partitions);
    return led;
  };
  // Names every topic of the question (LP2).
  prototype.fetchTopicsOffset = async function (this: Cluster, topics) {
    const found = await fetchTopicsOffset.call(this, topics);
    const missing = topics.filter(({ topic }) => !found.some((each) => each.topic === topic));
    return [...found, ...missing.map(({ topic }) => ({ topic, partitions: [] }))];
  };
}

/** Makes metadata without some leader expire soon (LP3). */
function expireLeaderlessMetadata(): void {
  const { prototype }: { prototype: BrokerPool } = require("kafkajs/src/cluster/brokerPool.js");
  const refresh = prototype.refreshMetadata;
  prototype.refreshMetadata = async function refreshMetadata(this: BrokerPool, topics) {
    await refresh.call(this, topics);
    const lacksLeader = this.metadata?.topicMetadata.some(({ partitionMetadata }) =>
      partitionMetadata.some(({ leader }) => leader < 0),
    );
    const soon = Date.now() + LEADERLESS_MAX_AGE_MS;
    if (lacksLeader && this.metadataExpireAt !== null) this.metadataExpireAt = Math.min(this.metadataExpireAt, soon);
    return null;
  };
}
