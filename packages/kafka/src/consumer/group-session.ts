/**
 * The consumer's membership in its group, and the two wrappers of kafkajs's parts that it takes to control it (C4,
 * C10).
 *
 * kafkajs hands a custom assigner its cluster, and every JOIN awaits `cluster.findGroupCoordinator`. The session wraps
 * that call, and the coordinator that it answers.
 *
 * Owns: the membership (coordinator, member id, generation) of the last SYNC that was answered, as its request names
 * it. kafkajs may run two JOINs at once, one from each of two fetches that meet a moved leader, and the SYNC of one
 * then goes by the coordinator that the other found.
 * GS1  Before each JOIN what was consumed is drained and committed (C4): `beforeJoin` is awaited, and must end soon.
 * GS2  A request that fails on the connection, or because the group is loading or has moved, is passed on as
 *      `NOT_COORDINATOR_FOR_GROUP`: kafkajs then looks the coordinator up and joins again under the same member id
 *      (C10).
 * GS3  Commits name the generation of their membership and are sent once. The brokers refuse a stale commit, so it
 *      never lands under a later generation. kafkajs's own commits can, since kafkajs sends them again after a rejoin.
 * GS4  A commit that is not accepted in time makes the next heartbeat ask for a rejoin, also a heartbeat that waits for
 *      its answer. Commits that are refused again and again do so too, whatever the reason: heartbeats may succeed all
 *      the while.
 * GS5  kafkajs is never told that there is no broker, since it crashes then (C7). It forgets the brokers that it lost
 *      and hears of those that came back with the next metadata only, so after the loss of two it may know none, though
 *      the third is up again.
 * GS6  After `end` kafkajs begins no fetch. Where the brokers change while the consumer stops, kafkajs would begin
 *      fetches that are over at once, one after the other for ever, and the process would get to nothing else.
 */
import { type Assigner, type Broker, type Cluster, type PartitionAssigner, PartitionAssigners } from "kafkajs";
import { withDeadline } from "../connection/deadline.ts";
import { isPassingFailure } from "../connection/kafka-errors.ts";

export interface GroupHooks {
  /** Awaited before every JOIN. */
  beforeJoin(): Promise<void>;
  /** A heartbeat was answered. */
  onHeartbeat(): void;
  /** kafkajs found the fetch offset outside the log and is about to start elsewhere, without a word. */
  onOutOfRange(topic: string, partition: number): void;
}

/** Where a partition stands by its group's commits. */
export interface CommittedPlace {
  readonly topic: string;
  readonly partition: number;
  /** -1 when the group never committed it. */
  readonly offset: number;
  readonly metadata: string | null;
}

/** What is to be committed for one partition. */
export interface CommitPoint {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly metadata: string;
}

/** GS4: about two seconds of commits. A rebalance that the heartbeat is about to notice refuses a few. */
const REFUSALS_IN_A_ROW = 20;

/** What the coordinator is asked beside what kafkajs's types name. */
interface CoordinatorRequests {
  joinGroup(request: unknown): Promise<unknown>;
  syncGroup(request: Omit<Membership, "coordinator">): Promise<unknown>;
  heartbeat(request: unknown): Promise<unknown>;
  offsetCommit(request: unknown): Promise<unknown>;
  offsetFetch(request: unknown): Promise<unknown>;
}

interface Membership {
  readonly coordinator: Broker;
  readonly memberId: string;
  readonly generationId: number;
}

export class GroupSession {
  readonly #groupId: string;
  readonly #hooks: GroupHooks;
  readonly #deadlineMs: number;
  readonly #wrappedClusters = new WeakSet<Cluster>();
  #membership: Membership | null = null;
  #continuous = false;
  #rejoinAsked = false;
  #ended = false;
  /**
   * Commits in a row that this membership was refused. A new membership starts at 0; the committer's count, for the
   * log, goes on.
   */
  #refusals = 0;
  #failHeartbeat: ((reason: unknown) => void) | null = null;

  /** A commit, or a reading of commits, that takes longer than `deadlineMs` asks for a rejoin (C10). */
  constructor(groupId: string, hooks: GroupHooks, deadlineMs: number) {
    this.#groupId = groupId;
    this.#hooks = hooks;
    this.#deadlineMs = deadlineMs;
  }

  /** For kafkajs's `partitionAssigners`: round robin, and the way to the cluster. */
  readonly assigner: PartitionAssigner = (config): Assigner => {
    this.#wrapCluster(config.cluster);
    return PartitionAssigners.roundRobin(config);
  };

  /** The consumer is about to leave or has failed (GS6). */
  end(): void {
    this.#ended = true;
  }

  /** True when nobody else can have owned this member's partitions between its last two joins. */
  get isContinuous(): boolean {
    return this.#continuous;
  }

  /** The next heartbeat, or the one that waits for its answer, is passed on as "not the coordinator". */
  requestRejoin(): void {
    this.#rejoinAsked = true;
    this.#failHeartbeat?.(notCoordinator("a rejoin was asked for"));
  }

  /**
   * Sends one commit under the present membership. Resolves with null when it was accepted in time, else with the
   * reason.
   */
  async commit(points: readonly CommitPoint[]): Promise<unknown> {
    const membership = this.#membership;
    if (membership === null) return notCoordinator("the group is not joined");
    const { coordinator, memberId, generationId } = membership;
    const request = {
      groupId: this.#groupId,
      groupGenerationId: generationId,
      memberId,
      topics: byTopic(points, ({ partition, offset, metadata }) => ({ partition, offset: String(offset), metadata })),
    };
    try {
      await withDeadline(coordinator.offsetCommit(request), this.#deadlineMs, "a commit");
      this.#refusals = 0;
      return null;
    } catch (error) {
      if (membership === this.#membership) {
        this.#refusals += 1;
        // Another generation is the heartbeat's to notice; what concerns the connection it may not notice for long.
        if (isCoordinatorFailure(error) || this.#refusals >= REFUSALS_IN_A_ROW) this.requestRejoin();
      }
      return error;
    }
  }

  /**
   * Reads what the group committed for these partitions. Rejects as kafkajs does, after asking for a rejoin where that
   * helps.
   */
  async committed(
    partitions: readonly { readonly topic: string; readonly partition: number }[],
  ): Promise<readonly CommittedPlace[]> {
    const membership = this.#membership;
    if (membership === null) throw notCoordinator("the group is not joined");
    try {
      const topics = byTopic(partitions, ({ partition }) => ({ partition, offset: "" }));
      const request = membership.coordinator.offsetFetch({ groupId: this.#groupId, topics });
      const { responses } = await withDeadline(request, this.#deadlineMs, "reading committed offsets");
      return responses.flatMap(({ topic, partitions: places }) =>
        places.map((place) => ({
          topic,
          partition: place.partition,
          offset: Number(place.offset),
          metadata: metadataOf(place),
        })),
      );
    } catch (error) {
      if (membership === this.#membership && isCoordinatorFailure(error)) this.requestRejoin();
      throw error;
    }
  }

  #wrapCluster(cluster: Cluster): void {
    if (this.#wrappedClusters.has(cluster)) return;
    this.#wrappedClusters.add(cluster);
    this.#keepNodeIds(cluster);
    const find = cluster.findGroupCoordinator.bind(cluster);
    cluster.findGroupCoordinator = async (group) => {
      await this.#hooks.beforeJoin();
      try {
        return this.#wrapCoordinator(await find(group));
      } catch (error) {
        throw asMoved(error);
      }
    };
  }

  /**
   * GS5: while kafkajs knows no broker it is told those that it knew last, and asking them makes it look for others.
   * And GS6.
   */
  #keepNodeIds(cluster: Cluster): void {
    const read = cluster.getNodeIds.bind(cluster);
    let known: number[] = [];
    cluster.getNodeIds = () => {
      if (this.#ended) throw new Error("the consumer has ended");
      const ids = read();
      if (ids.length > 0) known = ids;
      return known;
    };
  }

  #wrapCoordinator(coordinator: Broker): Broker {
    const requests = coordinator as unknown as CoordinatorRequests;
    const wrapped: CoordinatorRequests = {
      joinGroup: (request) => movedOn(requests.joinGroup(request)),
      syncGroup: async (request) => {
        const { memberId, generationId } = request;
        const answer = await movedOn(requests.syncGroup(request));
        this.#enter({ coordinator, memberId, generationId });
        return answer;
      },
      heartbeat: async (request) => {
        if (this.#rejoinAsked) throw notCoordinator("a rejoin was asked for");
        const answer = await this.#unlessRejoin(movedOn(requests.heartbeat(request)));
        this.#hooks.onHeartbeat();
        return answer;
      },
      offsetFetch: (request) => movedOn(requests.offsetFetch(request)),
      offsetCommit: (request) => {
        // The session commits by `commit` alone: kafkajs makes this commit when it resets a partition that is out of
        // range.
        for (const { topic, partitions } of (request as { topics: TopicPlaces[] }).topics) {
          for (const { partition } of partitions) this.#hooks.onOutOfRange(topic, partition);
        }
        return Promise.reject(notCoordinator("the offset is not in the log"));
      },
    };
    return Object.assign(Object.create(coordinator), wrapped);
  }

  #enter(membership: Membership): void {
    const before = this.#membership;
    this.#continuous =
      before !== null && before.memberId === membership.memberId && membership.generationId <= before.generationId + 1;
    this.#membership = membership;
    this.#rejoinAsked = false;
    this.#refusals = 0;
  }

  /**
   * The answer, or a rejection as soon as a rejoin is asked for: a coordinator answers a connection's requests in
   * order.
   */
  #unlessRejoin<R>(answer: Promise<R>): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      this.#failHeartbeat = reject;
      answer.then(resolve, reject);
    });
  }
}

interface TopicPlaces {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
}

/** An error by which kafkajs looks the coordinator up and joins again. */
function notCoordinator(why: string, cause?: unknown): Error {
  const error = new Error(why, { cause });
  return Object.assign(error, { type: "NOT_COORDINATOR_FOR_GROUP", code: 16, retriable: true });
}

/** GS2: what to do with a failure is to look again. */
function isCoordinatorFailure(error: unknown): boolean {
  return isPassingFailure(error) || (error as { code?: unknown } | null)?.code === "deadline_exceeded";
}

function asMoved(error: unknown): unknown {
  return isCoordinatorFailure(error) ? notCoordinator("the coordinator does not answer", error) : error;
}

function movedOn<R>(answer: Promise<R>): Promise<R> {
  return answer.catch((error: unknown) => {
    throw asMoved(error);
  });
}

function byTopic<P extends { readonly topic: string }, R>(
  places: readonly P[],
  toPartition: (place: P) => R,
): { topic: string; partitions: R[] }[] {
  const topics = new Map<string, R[]>();
  for (const place of places) {
    const partitions = topics.get(place.topic);
    if (partitions === undefined) topics.set(place.topic, [toPartition(place)]);
    else partitions.push(toPartition(place));
  }
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
}

/** kafkajs's types leave the metadata out. */
function metadataOf(place: object): string | null {
  const { metadata } = place as { readonly metadata?: unknown };
  return typeof metadata === "string" ? metadata : null;
}
