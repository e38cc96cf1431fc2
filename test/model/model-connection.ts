/**
 * A process's connection to the model's brokers, in the shape that packages/kafka makes of kafkajs: members of groups, readers
 * without a group, and questions about topics.
 *
 * Owns: nothing that outlives the process. What a client asked for that was destroyed meanwhile is answered by a cut connection.
 */

import { SILENT_LOG } from "@posthaste/core/log";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import type { GroupCommitProducerOptions } from "@posthaste/kafka/producer/producer";
import { makeValue } from "@posthaste/kafka/producer/record-value";
import { connectionError, isConnectionError, protocolError } from "./broker-errors.ts";
import type { Committed, Group, Place } from "./group.ts";
import { type CoordinatorRequests, Member, type MemberCluster } from "./member.ts";
import { type LogRecord, type ModelLog, topicIdOf } from "./model-log.ts";
import type { Network } from "./network.ts";
import { type Random, wholeBetween } from "./random.ts";
import type { TimerOwner, World } from "./world.ts";

type KafkaClient = ReturnType<KafkaConnection["createClient"]>;
type Admin = Parameters<Parameters<KafkaConnection["withAdmin"]>[0]>[0];
type BrokerClient = ReturnType<GroupCommitProducerOptions["makeClient"]>;
type PartitionLeaders = GroupCommitProducerOptions["leaders"];
type Batches = Parameters<BrokerClient["send"]>[0];
type PartitionAnswer = Awaited<ReturnType<BrokerClient["send"]>>[number];

/** How the next produce request goes wrong. `lost` is what no broker does: acknowledged and not written. */
export type ProduceFault = "lost" | "answer_lost" | "written_late" | "refused" | "not_named" | "slow";

/** What a commit says, as the process sends it. */
export interface CommitAttempt {
  readonly groupId: string;
  readonly points: readonly Committed[];
}

interface TopicIdsDefinition {
  protocol(asked: { readonly version: number }): unknown;
}

export interface ModelConnectionOptions {
  readonly world: World;
  readonly random: Random;
  readonly owner: TimerOwner;
  readonly log: ModelLog;
  readonly network: Network;
  readonly groups: ReadonlyMap<string, Group>;
  readonly heartbeatMs: number;
  readonly onCommit: (attempt: CommitAttempt) => void;
  /** The process learns where it begins, and what is finished there. */
  readonly onPlace: (groupId: string, place: Place, committed: Committed | undefined) => void;
}

const BROKERS = 2;
/** Kafka's codes. */
const WRITTEN = 0;
const NOT_LEADER = 6;
/** Metadata as of Kafka 2.8. */
const TOPIC_ID_VERSION = 10;
const READER_WAIT_MS = 2000;
const ASK_AGAIN_MS = 100;
const LATEST_WRITE_MS = 3000;

export class ModelConnection implements KafkaConnection {
  readonly brokers = ["model:9092"];
  readonly clientId = "model";
  readonly log = SILENT_LOG;
  readonly metrics = undefined;
  readonly #options: ModelConnectionOptions;
  readonly #members: Member[] = [];
  readonly #faults: ProduceFault[] = [];
  /** Readers get nothing before this moment: tables lag. */
  #readersHeldUntilMs = 0;

  constructor(options: ModelConnectionOptions) {
    this.#options = options;
  }

  /** The next produce requests go wrong so. */
  failSends(faults: readonly ProduceFault[]): void {
    this.#faults.push(...faults);
  }

  /** Between what comes before a join and the join. */
  isJoining(groupId: string): boolean {
    return this.#members.some((member) => member.groupId === groupId && member.isJoining);
  }

  /** Faults stop. */
  mend(): void {
    this.#faults.length = 0;
    this.#readersHeldUntilMs = 0;
  }

  holdReaders(forMs: number): void {
    this.#readersHeldUntilMs = this.#options.world.nowMs + forMs;
  }

  createClient(): KafkaClient {
    let isGone = false;
    const kafka = {
      consumer: (settings: ConsumerSettings) => this.#createMember(settings, () => isGone),
      [Symbol("private:Kafka:createCluster")]: () => this.#createReaderCluster(() => isGone),
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
    let isGone = false;
    let isConnected = false;
    return {
      connect: () => {
        if (isConnected) return undefined;
        return this.#ask(
          () => undefined,
          () => isGone,
        ).then(() => {
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

  /** Who leads the partitions of these topics: each of the brokers in turn. */
  leadersOf(topics: ReadonlySet<string>): PartitionLeaders {
    const { log } = this.#options;
    return {
      countOf: (topic) => (topics.has(topic) ? log.partitionsOf(topic).length : undefined),
      leaderOf: (_, partition) => ({ nodeId: partition % BROKERS, host: "model", port: 9092 + (partition % BROKERS) }),
      refresh: () => this.#ask(() => undefined).catch(() => undefined),
      close: () => undefined,
    };
  }

  /** Asked again until the brokers answer, as the shared admin client does. */
  async withAdmin<R>(use: (admin: Admin) => Promise<R>): Promise<R> {
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
    for (;;) {
      try {
        return await use(admin as unknown as Admin);
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

  #ask<R>(serve: () => R, isGone?: () => boolean): Promise<R> {
    return this.#options.network.ask<R>((answer) => answer.resolve(serve()), isGone);
  }

  #createMember(settings: ConsumerSettings, isGone: () => boolean): Member {
    const { world, random, owner, log, groups, heartbeatMs } = this.#options;
    const { groupId } = settings;
    const group = groups.get(groupId);
    if (group === undefined) throw new Error(`the model has no group ${groupId}`);
    const cluster: MemberCluster = {
      findGroupCoordinator: async () => this.#coordinatorOf(groupId, group, isGone),
      getNodeIds: () => [1],
    };
    for (const assigner of settings.partitionAssigners) assigner({ cluster, groupId, logger: undefined });
    const member = new Member({
      ...{ world, random, owner, log, cluster, groupId, heartbeatMs, isGone },
      fetch: (from, offset, most) => this.#ask(() => ({ records: from.from(offset, most), end: from.end }), isGone),
    });
    this.#members.push(member);
    return member;
  }

  #coordinatorOf(groupId: string, group: Group, isGone: () => boolean): CoordinatorRequests {
    const { network, onCommit, onPlace } = this.#options;
    return {
      joinGroup: ({ memberId }) => network.ask((answer) => group.join(memberId, answer), isGone),
      syncGroup: ({ memberId, generationId }) =>
        network.ask((answer) => group.sync(memberId, generationId, answer), isGone),
      heartbeat: ({ memberId, groupGenerationId }) =>
        network.ask((answer) => group.heartbeat(memberId, groupGenerationId, answer), isGone),
      leaveGroup: ({ memberId }) => this.#ask(() => group.leave(memberId), isGone),
      offsetCommit: (request) => {
        const { memberId, groupGenerationId, topics } = request as CommitRequest;
        const points = topics.flatMap(({ topic, partitions }) =>
          partitions.map(({ partition, offset, metadata }) => ({ topic, partition, offset: Number(offset), metadata })),
        );
        onCommit({ groupId, points });
        return network.ask((answer) => group.commit(memberId, groupGenerationId, points, answer), isGone);
      },
      offsetFetch: (request) => {
        const { topics } = request as PlacesRequest;
        const places = topics.flatMap(({ topic, partitions }) =>
          partitions.map(({ partition }) => ({ topic, partition })),
        );
        return network
          .ask<readonly (Committed | undefined)[]>(({ resolve, reject }) => {
            if (group.quietForMs < 0) reject(protocolError("GROUP_LOAD_IN_PROGRESS"));
            else resolve(places.map((place) => group.committedAt(place)));
          }, isGone)
          .then((committed) => {
            for (const [index, place] of places.entries()) onPlace(groupId, place, committed[index]);
            return { responses: places.map((place, index) => toOffsetAnswer(place, committed[index])) };
          });
      },
    };
  }

  #createReaderCluster(isGone: () => boolean): object {
    const { log } = this.#options;
    return {
      connect: () => this.#ask(() => undefined, isGone),
      disconnect: async () => undefined,
      addTargetTopic: async () => undefined,
      findLeaderForPartitions: (_: string, partitions: readonly number[]) => ({ "1": partitions }),
      findTopicPartitionMetadata: (topic: string) =>
        log.partitionsOf(topic).map(({ partition }) => ({ partitionId: partition, leader: 1 })),
      findBroker: async () => ({
        fetch: (request: FetchRequest) => this.#fetchForReader(request, isGone),
        lookupRequest: (_: number, { protocol }: TopicIdsDefinition) => protocol({ version: TOPIC_ID_VERSION }),
        // Asked for topics' ids and for nothing else.
        connectionPool: { send: () => this.#ask(() => log.topics.map(toNamedTopic), isGone) },
      }),
      fetchTopicsOffset: (queries: readonly OffsetsQuery[]) =>
        this.#ask(
          () =>
            queries.map(({ topic, partitions, fromBeginning }) => ({
              topic,
              partitions: partitions.map(({ partition }) => ({
                partition,
                offset: String(fromBeginning ? 0 : log.partition(topic, partition).end),
              })),
            })),
          isGone,
        ),
    };
  }

  /** A fetch without a group: answered when there is something, or after a while without. */
  #fetchForReader({ topics }: FetchRequest, isGone: () => boolean): Promise<object> {
    const [asked] = topics;
    const [place] = asked?.partitions ?? [];
    if (asked === undefined || place === undefined) throw new Error("a reader asks for one partition");
    const { world, log, network } = this.#options;
    const partition = log.partition(asked.topic, place.partition);
    const from = Number(place.fetchOffset);
    const toAnswer = () => ({
      responses: [
        {
          topicName: asked.topic,
          partitions: [
            {
              partition: place.partition,
              highWatermark: String(partition.end),
              messages: partition.from(from, 100).map(toReaderMessage),
            },
          ],
        },
      ],
    });
    return network.ask<object>(({ resolve }) => {
      const isHeld = () => world.nowMs < this.#readersHeldUntilMs;
      const answerIfAny = () => {
        if (isHeld() || partition.end <= from) return;
        stop();
        resolve(toAnswer());
      };
      const stop = log.onAppend((grown) => {
        if (grown === partition) answerIfAny();
      });
      const heldMs = Math.max(0, this.#readersHeldUntilMs - world.nowMs);
      if (heldMs > 0) world.after(heldMs, null, answerIfAny);
      world.after(heldMs + READER_WAIT_MS, null, () => {
        stop();
        resolve(toAnswer());
      });
      answerIfAny();
    }, isGone);
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

  /** P3: what the answer does not name may be written or not. */
  #answerOrLeaveOut(batch: Batches[number], timestampMs: number): readonly PartitionAnswer[] {
    const chance = this.#options.random();
    const answers = chance < 0.6 ? this.#write([batch], timestampMs) : [];
    return chance < 0.3 ? answers : [];
  }

  #write(batches: Batches, timestampMs: number): readonly PartitionAnswer[] {
    for (const { topic, partition, records } of batches) {
      for (const { key, value, headers } of records) {
        this.#options.log.append(topic, partition, { key, value: makeValue(value), headers, timestampMs });
      }
    }
    return answersTo(batches, WRITTEN);
  }
}

interface ConsumerSettings {
  readonly groupId: string;
  readonly partitionAssigners: readonly ((config: object) => object)[];
}

interface CommitRequest {
  readonly memberId: string;
  readonly groupGenerationId: number;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly offset: string; readonly metadata: string }[];
  }[];
}

interface PlacesRequest {
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number }[];
  }[];
}

interface FetchRequest {
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly fetchOffset: string }[];
  }[];
}

interface OffsetsQuery {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
  readonly fromBeginning: boolean;
}

function toNamedTopic(name: string): object {
  return { name, errorCode: WRITTEN, topicId: topicIdOf(name) };
}

function answersTo(batches: Batches, errorCode: number): readonly PartitionAnswer[] {
  return batches.map(({ topic, partition }) => ({ topicName: topic, partition, errorCode }));
}

function toOffsetAnswer({ topic, partition }: Place, committed: Committed | undefined): object {
  const { offset = -1, metadata = "" } = committed ?? {};
  return { topic, partitions: [{ partition, offset: String(offset), metadata, errorCode: 0 }] };
}

function toReaderMessage({ offset, timestampMs, key, value, headers }: LogRecord): object {
  const batchContext = { firstOffset: String(offset), lastOffsetDelta: 0 };
  const isControlRecord = false;
  return { offset: String(offset), timestamp: String(timestampMs), key, value, headers, isControlRecord, batchContext };
}
