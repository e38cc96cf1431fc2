/**
 * kafkajs's consumer as far as our consumer uses it, over the model's coordinator and logs.
 *
 * Owns: the membership, the paused and sought partitions, and one fetch at a time of each partition.
 * - It joins by the cluster that its assigner was given, as kafkajs does: a wrapped request is awaited (C4, C10).
 * MM2  Pauses outlive assignments; positions do not (C5).
 * MM3  A fetch that was asked for before a join, a seek or a pause brings nothing, with few exceptions.
 */

import { type Random, wholeBetween } from "@posthaste/testkit/random";
import { errorType } from "./broker-errors.ts";
import type { Assignment, JoinAnswer, Place } from "./group.ts";
import type { LogRecord, ModelLog, PartitionLog } from "./model-log.ts";
import type { TimerOwner, World } from "./world.ts";

/** The requests to the coordinator; ours wraps it. */
export interface CoordinatorRequests {
  joinGroup(request: { readonly memberId: string }): Promise<JoinAnswer>;
  syncGroup(request: { readonly memberId: string; readonly generationId: number }): Promise<Assignment>;
  heartbeat(request: { readonly memberId: string; readonly groupGenerationId: number }): Promise<object>;
  leaveGroup(request: { readonly memberId: string }): Promise<void>;
  offsetFetch(request: object): Promise<unknown>;
  offsetCommit(request: object): Promise<unknown>;
}

export interface MemberCluster {
  findGroupCoordinator(group: { readonly groupId: string }): Promise<CoordinatorRequests>;
  getNodeIds(): number[];
}

export interface Fetched {
  /** None where no record stands up to the end. */
  readonly records: readonly LogRecord[];
  /** The partition's end offset when the brokers answered. */
  readonly end: number;
}

export interface MemberOptions {
  readonly world: World;
  readonly random: Random;
  readonly owner: TimerOwner;
  readonly log: ModelLog;
  readonly cluster: MemberCluster;
  readonly groupId: string;
  readonly heartbeatMs: number;
  /** Brings the records of a fetch, when they come. */
  readonly fetch: (log: PartitionLog, from: number, most: number) => Promise<Fetched>;
  readonly isGone: () => boolean;
}

type Handler = (payload: object) => Promise<void>;
type Listener = (event: { readonly payload: object }) => void;

const MOST_FETCHED = 12;
const REJOIN_PAUSE_MS = 100;
const STALE_SHARE = 0.2;

interface Fetching extends Place {
  isPaused: boolean;
  isAssigned: boolean;
  /** Null until it was sought. */
  position: number | null;
  /** Rises with everything that makes an outstanding fetch void (MM3). */
  round: number;
  seeks: number;
  isOut: boolean;
}

export class Member {
  readonly events = {
    GROUP_JOIN: "consumer.group_join",
    START_BATCH_PROCESS: "consumer.start_batch_process",
    CRASH: "consumer.crash",
  };
  readonly #options: MemberOptions;
  readonly #partitions = new Map<string, Fetching>();
  readonly #listeners = new Map<string, Listener>();
  #isJoining = false;
  #memberId = "";
  #generationId = 0;
  #coordinator: CoordinatorRequests | null = null;
  #handler: Handler = () => Promise.resolve();
  #stopFollowing: () => void = () => undefined;
  #isStopped = false;

  constructor(options: MemberOptions) {
    this.#options = options;
  }

  get groupId(): string {
    return this.#options.groupId;
  }

  /** From the moment when the steps before a join were asked for, until it was joined. */
  get isJoining(): boolean {
    return this.#isJoining;
  }

  on(event: string, listener: Listener): () => void {
    this.#listeners.set(event, listener);
    return () => this.#listeners.delete(event);
  }

  async connect(): Promise<void> {}

  async subscribe({ topics }: { readonly topics: readonly string[] }): Promise<void> {
    for (const topic of topics) {
      for (const { partition } of this.#options.log.partitionsOf(topic)) {
        const fetching = {
          topic,
          partition,
          isPaused: false,
          isAssigned: false,
          position: null,
          round: 0,
          seeks: 0,
          isOut: false,
        };
        this.#partitions.set(`${topic}/${partition}`, fetching);
      }
    }
  }

  async run({ eachBatch }: { readonly eachBatch: Handler }): Promise<void> {
    this.#handler = eachBatch;
    this.#stopFollowing = this.#options.log.onAppend(({ topic, partition }) => this.#look(topic, partition));
    await this.#join();
    void this.#heartbeat();
  }

  pause(places: readonly { readonly topic: string; readonly partitions: readonly number[] }[]): void {
    this.#each(places, (fetching) => {
      fetching.isPaused = true;
      fetching.round += 1;
    });
  }

  resume(places: readonly { readonly topic: string; readonly partitions: readonly number[] }[]): void {
    this.#each(places, (fetching) => {
      fetching.isPaused = false;
      this.#look(fetching.topic, fetching.partition);
    });
  }

  seek({ topic, partition, offset }: Place & { readonly offset: string }): void {
    this.#each([{ topic, partitions: [partition] }], (fetching) => {
      fetching.position = Number(offset);
      fetching.round += 1;
      fetching.seeks += 1;
      this.#look(topic, partition);
    });
  }

  async disconnect(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#stopFollowing();
    for (const fetching of this.#partitions.values()) fetching.isAssigned = false;
    if (this.#memberId !== "") await this.#coordinator?.leaveGroup({ memberId: this.#memberId });
  }

  #each(
    places: readonly { readonly topic: string; readonly partitions: readonly number[] }[],
    act: (fetching: Fetching) => void,
  ): void {
    for (const { topic, partitions } of places) {
      for (const partition of partitions) {
        const fetching = this.#partitions.get(`${topic}/${partition}`);
        if (fetching !== undefined) act(fetching);
      }
    }
  }

  async #join(): Promise<void> {
    const { cluster, groupId } = this.#options;
    while (!this.#isStopped) {
      try {
        const finding = cluster.findGroupCoordinator({ groupId });
        this.#isJoining = true;
        const coordinator = await finding;
        if (this.#isStopped) return;
        this.#coordinator = coordinator;
        const { memberId, generationId } = await coordinator.joinGroup({ memberId: this.#memberId });
        this.#memberId = memberId;
        this.#generationId = generationId;
        const assignment = await coordinator.syncGroup({ memberId, generationId });
        if (!this.#isStopped) this.#assign(assignment);
        return;
      } catch (error) {
        this.#forgetIfUnknown(error);
        await new Promise<void>((resolve) => setTimeout(resolve, REJOIN_PAUSE_MS));
      }
    }
  }

  /** MM2. */
  #assign(assignment: Assignment): void {
    for (const fetching of this.#partitions.values()) {
      fetching.isAssigned = assignment[fetching.topic]?.includes(fetching.partition) ?? false;
      fetching.position = null;
      fetching.round += 1;
    }
    const { groupId } = this.#options;
    this.#isJoining = false;
    this.#emit(this.events.GROUP_JOIN, { groupId, memberId: this.#memberId, memberAssignment: assignment });
    for (const { topic, partition } of this.#partitions.values()) this.#look(topic, partition);
  }

  async #heartbeat(): Promise<void> {
    while (!this.#isStopped) {
      await new Promise<void>((resolve) => setTimeout(resolve, this.#options.heartbeatMs));
      if (this.#isStopped) return;
      try {
        await this.#coordinator?.heartbeat({ memberId: this.#memberId, groupGenerationId: this.#generationId });
      } catch (error) {
        this.#forgetIfUnknown(error);
        await this.#join();
      }
    }
  }

  #forgetIfUnknown(error: unknown): void {
    if (errorType(error) === "UNKNOWN_MEMBER_ID") this.#memberId = "";
  }

  #emit(event: string, payload: object): void {
    this.#listeners.get(event)?.({ payload });
  }

  /** Fetches of a partition where there is something to fetch, one fetch at a time. */
  #look(topic: string, partition: number): void {
    const fetching = this.#partitions.get(`${topic}/${partition}`);
    if (fetching === undefined || fetching.isOut || fetching.isPaused || !fetching.isAssigned) return;
    if (this.#isStopped || fetching.position === null) return;
    const log = this.#options.log.partition(topic, partition);
    if (fetching.position >= log.end) return;
    fetching.isOut = true;
    const { world, owner } = this.#options;
    world.runAs(owner, () => void this.#fetch(fetching, log, fetching.position ?? 0));
  }

  async #fetch(fetching: Fetching, log: PartitionLog, from: number): Promise<void> {
    const { fetch, random } = this.#options;
    const { round } = fetching;
    try {
      const fetched = await fetch(log, from, wholeBetween(random, 1, MOST_FETCHED));
      if (this.#isWanted(fetching, round)) await this.#hand(fetching, from, fetched);
    } catch {
      // The connection was cut: the same is asked for again.
    }
    fetching.isOut = false;
    this.#look(fetching.topic, fetching.partition);
  }

  /** MM3; a batch that was asked for before a seek may come all the same. */
  #isWanted({ round, isPaused, isAssigned }: Fetching, askedInRound: number): boolean {
    if (this.#isStopped) return false;
    return round === askedInRound || (isAssigned && !isPaused && this.#options.random() < STALE_SHARE);
  }

  async #hand(fetching: Fetching, from: number, { records, end }: Fetched): Promise<void> {
    const { topic, partition } = fetching;
    const last = records.at(-1);
    // A range without a record never comes to the handler, and kafkajs goes on behind it (C9).
    const lastOffset = last === undefined ? end - 1 : last.offset;
    const place = { topic, partition, firstOffset: String(from), lastOffset: String(lastOffset) };
    this.#emit(this.events.START_BATCH_PROCESS, { ...place, batchSize: records.length });
    if (last === undefined) {
      fetching.position = lastOffset + 1;
      return;
    }
    const { seeks } = fetching;
    const batch = {
      topic,
      partition,
      fetchedOffset: String(from),
      highWatermark: String(end),
      lastOffset: () => String(lastOffset),
      messages: records.map(toMessage),
    };
    const resolveOffset = (offset: string) => {
      if (seeks === fetching.seeks) fetching.position = Number(offset) + 1;
    };
    await this.#handler({ batch, resolveOffset });
  }
}

function toMessage({ offset, timestampMs, key, value, headers }: LogRecord): object {
  return { offset: String(offset), timestamp: String(timestampMs), key, value, headers, attributes: 0 };
}
