/**
 * The consumer's membership in its group, and the two wrappers around parts of kafkajs by which this package controls
 * it (C4, C10).
 *
 * kafkajs gives a custom assigner its cluster object, and awaits `cluster.findGroupCoordinator` before every JOIN. The
 * session wraps that call, and the coordinator that it returns.
 *
 * Owns: the membership (coordinator, member id, generation) of the last answered SYNC, with the ids of that SYNC's
 * request. kafkajs may run two JOINs at once, one from each of two fetches that meet a moved leader, and the SYNC of
 * one may then go to the coordinator that the other found.
 * GS1  Before each JOIN the consumer drains and commits (C4): the session awaits `beforeJoin`, which must end soon.
 * GS2  The session passes a request's failure to kafkajs as `NOT_COORDINATOR_FOR_GROUP` when the connection failed, or
 *      the group is loading or has moved. kafkajs then looks the coordinator up and joins again under the same member
 *      id (C10).
 * GS3  A commit names its membership's generation, and the session sends it once. So the brokers refuse a stale commit,
 *      and it never lands under a later generation. kafkajs's own commits may: kafkajs repeats them after a rejoin.
 * GS4  A commit that no broker accepts in time makes the next heartbeat, or the one that waits for its answer, fail
 *      with the request to rejoin. So do `REFUSALS_IN_A_ROW` refused commits, for any reason: heartbeats may succeed
 *      all the while.
 * GS5  The session never tells kafkajs that there is no broker, since kafkajs then crashes (C7). kafkajs forgets each
 *      broker that it loses, and learns only from its next metadata of one that came back: when brokers fail one after
 *      another it may know none while one is up.
 * GS6  After `end` kafkajs begins no fetch. When the brokers change while a consumer stops, kafkajs would begin fetches
 *      that end at once, one after the other for ever, and would leave no time for anything else.
 */
import { type Assigner, type Broker, type Cluster, type PartitionAssigner, PartitionAssigners } from "kafkajs";
import { withDeadline } from "../connection/deadline.ts";
import { isPassingFailure } from "../connection/kafka-errors.ts";

export interface GroupHooks {
  /** The session awaits this before every JOIN (GS1). */
  beforeJoin(): Promise<void>;
  /** The coordinator answered a heartbeat. */
  onHeartbeat(): void;
  /** kafkajs found the fetch offset outside the log, and would silently go on at another offset. */
  onOutOfRange(topic: string, partition: number): void;
}

/** The last commit of a group for one partition. */
export interface CommittedPlace {
  readonly topic: string;
  readonly partition: number;
  /** -1 when the group never committed an offset of the partition. */
  readonly offset: number;
  readonly metadata: string | null;
}

/** The commit that is to be sent for one partition. */
export interface CommitPoint {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly metadata: string;
}

/** About two seconds of commits (GS4). A rebalance causes a few refusals too, until a heartbeat notices it. */
const REFUSALS_IN_A_ROW = 20;

/** The coordinator's requests that the session wraps; kafkajs's types leave some out. */
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
   * Refused commits in a row under this membership (GS4). A new membership starts at 0; the committer's count, for the
   * log, does not.
   */
  #refusals = 0;
  #failHeartbeat: ((reason: unknown) => void) | null = null;

  /** A commit, or a read of commits, that takes longer than `deadlineMs` asks for a rejoin (C10). */
  constructor(groupId: string, hooks: GroupHooks, deadlineMs: number) {
    this.#groupId = groupId;
    this.#hooks = hooks;
    this.#deadlineMs = deadlineMs;
  }

  /** For kafkajs's `partitionAssigners`: it assigns round robin, and gives the session kafkajs's cluster object. */
  readonly assigner: PartitionAssigner = (config): Assigner => {
    this.#wrapCluster(config.cluster);
    return PartitionAssigners.roundRobin(config);
  };

  /** The consumer is about to leave the group, or has failed (GS6). */
  end(): void {
    this.#ended = true;
  }

  /** True when no other member can have owned this member's partitions between its last two JOINs. */
  get isContinuous(): boolean {
    return this.#continuous;
  }

  /** Makes the next heartbeat, or the one that waits for its answer, fail with `NOT_COORDINATOR_FOR_GROUP` (GS2). */
  requestRejoin(): void {
    this.#rejoinAsked = true;
    this.#failHeartbeat?.(notCoordinator("a rejoin was asked for"));
  }

  /**
   * Sends one commit under the present membership. Resolves with null when the brokers accepted it in time, else with
   * the reason.
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
        // A heartbeat notices a new generation by itself, but may take long to notice a failed connection.
        if (isCoordinatorFailure(error) || this.#refusals >= REFUSALS_IN_A_ROW) this.requestRejoin();
      }
      return error;
    }
  }

  /**
   * Reads the group's commits for these partitions. Rejects with kafkajs's error; if the coordinator failed, it asks
   * for a rejoin first.
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
   * While kafkajs knows no broker, it gets the ids that it knew last; asking those brokers makes it look for others
   * (GS5). After `end` it gets an error (GS6).
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
      joinGroup: (request) => passedOnAsMoved(requests.joinGroup(request)),
      syncGroup: async (request) => {
        const { memberId, generationId } = request;
        const answer = await passedOnAsMoved(requests.syncGroup(request));
        this.#onSynced({ coordinator, memberId, generationId });
        return answer;
      },
      heartbeat: async (request) => {
        if (this.#rejoinAsked) throw notCoordinator("a rejoin was asked for");
        const answer = await this.#orRejoin(passedOnAsMoved(requests.heartbeat(request)));
        this.#hooks.onHeartbeat();
        return answer;
      },
      offsetFetch: (request) => passedOnAsMoved(requests.offsetFetch(request)),
      offsetCommit: (request) => {
        // Commits of this package go through `commit`. kafkajs itself commits only when it resets a partition whose
        // offset is out of range.
        for (const { topic, partitions } of (request as { topics: TopicPlaces[] }).topics) {
          for (const { partition } of partitions) this.#hooks.onOutOfRange(topic, partition);
        }
        return Promise.reject(notCoordinator("the offset is not in the log"));
      },
    };
    return Object.assign(Object.create(coordinator), wrapped);
  }

  #onSynced(membership: Membership): void {
    const before = this.#membership;
    this.#continuous =
      before !== null && before.memberId === membership.memberId && membership.generationId <= before.generationId + 1;
    this.#membership = membership;
    this.#rejoinAsked = false;
    this.#refusals = 0;
  }

  /**
   * Passes the answer on, or rejects as soon as a rejoin is asked for. It cannot wait for the answer, since a
   * coordinator answers a connection's requests in order.
   */
  #orRejoin<R>(answer: Promise<R>): Promise<R> {
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

/** An error that makes kafkajs look the coordinator up and join again. */
function notCoordinator(why: string, cause?: unknown): Error {
  const error = new Error(why, { cause });
  return Object.assign(error, { type: "NOT_COORDINATOR_FOR_GROUP", code: 16, retriable: true });
}

/** True when looking the coordinator up again may help (GS2). */
function isCoordinatorFailure(error: unknown): boolean {
  return isPassingFailure(error) || (error as { code?: unknown } | null)?.code === "deadline_exceeded";
}

function asMoved(error: unknown): unknown {
  return isCoordinatorFailure(error) ? notCoordinator("the coordinator does not answer", error) : error;
}

function passedOnAsMoved<R>(answer: Promise<R>): Promise<R> {
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

/** The metadata of a commit, which kafkajs's types leave out. */
function metadataOf(place: object): string | null {
  const { metadata } = place as { readonly metadata?: unknown };
  return typeof metadata === "string" ? metadata : null;
}
