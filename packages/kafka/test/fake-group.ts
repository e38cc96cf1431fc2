/**
 * A group of one member behind a windowed consumer: kafkajs's consumer and its coordinator as scripts, so that a test
 * decides when a JOIN, a batch, an answer or a crash comes, and sees the consumer's requests.
 *
 * Owns: the group's committed offsets, the log's ends, and the requests, in order.
 */
import type { Log } from "@posthaste/core/log";
import { Registry } from "prom-client";
import type { KafkaConnection } from "../src/connection/connect.ts";
import { createKafkaMetrics } from "../src/connection/metrics.ts";
import { createWindowedConsumer } from "../src/consumer/consumer.ts";
import type { CommitPoint } from "../src/consumer/group-session.ts";
import type {
  PartitionWindow,
  Task,
  WindowedConsumer,
  WindowedConsumerOptions,
} from "../src/consumer/windowed-consumer.ts";

type Listener = (event: { readonly payload: unknown }) => void;
type Handler = (payload: unknown) => Promise<void>;
type Assignment = Readonly<Record<string, readonly number[]>>;

interface Coordinator {
  syncGroup(request: { readonly memberId: string; readonly generationId: number }): Promise<unknown>;
  heartbeat(request: object): Promise<unknown>;
  offsetCommit(request: object): Promise<unknown>;
}

interface CommitRequest {
  readonly topics: readonly { readonly topic: string; readonly partitions: readonly Omit<CommitPoint, "topic">[] }[];
}

/** kafkajs's maker of clusters, under a symbol of its own. */
const CREATE_CLUSTER = Symbol("private:Kafka:createCluster");

const EVENTS = { GROUP_JOIN: "join", START_BATCH_PROCESS: "start", STOP: "stop", CRASH: "crash" };

export class FakeGroup {
  /** The requests to kafkajs's consumer: `pause 0`, `seek 0 to 5`, and so on. */
  readonly asked: string[] = [];
  /** By partition; an absent partition was never committed. */
  readonly committed = new Map<number, number>();
  /** Each commit that came: offsets by partition. */
  readonly commits: Record<string, number>[] = [];
  /** Ends of the log by partition; a partition that is not here has no leader. */
  readonly ends = new Map([
    [0, 100],
    [1, 100],
    [2, 100],
  ]);
  start = 0;
  readonly ran: Task<string>[] = [];
  readonly assigned: PartitionWindow[] = [];
  readonly revoked: PartitionWindow[] = [];
  readonly failures: Error[] = [];
  readonly logged: Record<string, unknown>[] = [];
  /** `name group` of each count of a metric; with 0 where the series was only shown. */
  readonly counted: string[] = [];
  /** The last value of each gauge, by name and labels. */
  readonly gauges = new Map<string, number>();
  /** The options of kafkajs's client. */
  clientOptions: object | undefined;
  answering: readonly string[] = ["broker:9092"];
  /** How often the sockets were destroyed. */
  destroyed = 0;
  /** Awaited where the name says; a test rejects or holds them up. */
  connect: () => Promise<void> = async () => {};
  onRun: () => void = () => {};
  disconnect: () => Promise<void> = async () => {};
  onCommit: () => Promise<unknown> = async () => ({});
  onOffsetFetch: () => Promise<void> = async () => {};
  onAdmin: () => Promise<void> = async () => {};
  readonly consumer: WindowedConsumer;
  readonly #kafka = {
    consumer: (settings: object) => this.#createConsumer(settings),
    [CREATE_CLUSTER]: (_options: object) => {
      const broker = { fetch: async (request: { readonly maxWaitTime: number }) => request };
      return { findBroker: async () => broker };
    },
  };
  readonly #listeners = new Map<string, Listener>();
  #handler: Handler = async () => {};
  #cluster: { findGroupCoordinator(group: object): Promise<Coordinator> } = { findGroupCoordinator: this.#unmade };
  #coordinator: Coordinator | undefined;
  #generation = 0;

  constructor(options: Partial<WindowedConsumerOptions<string>> = {}, hasMetrics = true) {
    this.consumer = createWindowedConsumer<string>(this.#createConnection(hasMetrics), {
      groupId: "g",
      topics: ["t"],
      // As of a cluster without such ids: nothing is asked, and nothing watched.
      topicIds: new Map([["t", null]]),
      window: { maxRecords: 10, maxBytes: 1_000_000 },
      take: ({ value }) => String(value),
      laneOf: () => null,
      run: (task) => void this.ran.push(task),
      onAssigned: (windows) => this.assigned.push(...windows),
      onRevoked: (windows) => this.revoked.push(...windows),
      onFailure: (reason) => this.failures.push(reason),
      ...options,
    });
  }

  /**
   * The member joins: the next generation, or one that others had in between. Resolves when it is told its partitions.
   */
  async join(partitions: readonly number[], generations = 1): Promise<void> {
    await this.beginJoin();
    await this.endJoin(partitions, generations);
  }

  /** Before the JOIN: resolves when the consumer lets it go on. */
  async beginJoin(): Promise<void> {
    this.#coordinator = await this.#cluster.findGroupCoordinator({ groupId: "g" });
  }

  async endJoin(partitions: readonly number[], generations = 1): Promise<void> {
    this.#generation += generations;
    await this.#coordinator?.syncGroup({ memberId: "m", generationId: this.#generation });
    const memberAssignment: Assignment = partitions.length === 0 ? {} : { t: partitions };
    this.#emit(EVENTS.GROUP_JOIN, { memberAssignment });
  }

  heartbeat(): Promise<unknown> {
    return this.#coordinator?.heartbeat({}) ?? Promise.reject(new Error("there was no join"));
  }

  /** A batch of records from `from` on, valued by their offsets, for `topic`. True when its offset was resolved. */
  async fetch(partition: number, from: number, count: number, topic = "t"): Promise<string | null> {
    let resolved: string | null = null;
    const messages = Array.from({ length: count }, (_, index) => ({
      offset: String(from + index),
      timestamp: "0",
      key: null,
      // Of schema 7.
      value: Buffer.from(`\0\0\0\0\x07${from + index}`),
      attributes: 0,
      headers: {},
    }));
    const batch = {
      topic,
      partition,
      fetchedOffset: String(from),
      highWatermark: String(this.ends.get(partition)),
      lastOffset: () => String(from + count - 1),
      messages,
    };
    await this.#handler({
      batch,
      resolveOffset: (offset: string) => {
        resolved = offset;
      },
    });
    return resolved;
  }

  /** How long a fetch that begins now waits at the broker. */
  async fetchWaitMs(): Promise<number> {
    const { maxWaitTime } = await (await this.#kafka[CREATE_CLUSTER]({}).findBroker()).fetch({ maxWaitTime: -1 });
    return maxWaitTime;
  }

  /** kafkajs begins to process the records of a fetch. */
  begins(partition: number, batchSize: number, firstOffset: number, lastOffset: number): void {
    const offsets = { firstOffset: String(firstOffset), lastOffset: String(lastOffset) };
    this.#emit(EVENTS.START_BATCH_PROCESS, { topic: "t", partition, batchSize, ...offsets });
  }

  /** kafkajs has left the group. */
  left(): void {
    this.#emit(EVENTS.STOP, {});
  }

  crash(error: Error): void {
    this.#emit(EVENTS.CRASH, { error });
  }

  /** kafkajs found the position outside the log, and resets it by a commit of its own. */
  resets(partition: number): Promise<unknown> {
    const request = { topics: [{ topic: "t", partitions: [{ partition, offset: "0" }] }] };
    return this.#coordinator?.offsetCommit(request) ?? Promise.resolve();
  }

  /** The requests since the last call. */
  takeAsked(): readonly string[] {
    return this.asked.splice(0);
  }

  finish(offset: number, partition = 0): void {
    this.ran.find(({ record }) => record.offset === offset && record.partition === partition)?.finish();
  }

  /** `partition:offset` of each record that ran, in order. */
  get names(): readonly string[] {
    return this.ran.map(({ record }) => `${record.partition}:${record.offset}`);
  }

  #emit(event: string, payload: object): void {
    this.#listeners.get(event)?.({ payload });
  }

  #unmade(): Promise<never> {
    return Promise.reject(new Error("the consumer made no assigner"));
  }

  #createConnection(hasMetrics: boolean): KafkaConnection {
    const log = (fields: Record<string, unknown>) => void this.logged.push(fields);
    const counter = (name: string) => ({
      inc: ({ group }: { readonly group?: string }, value = 1) =>
        void this.counted.push(`${name} ${group}${value === 0 ? " 0" : ""}`),
    });
    const gauge = (name: string) => ({
      set: (labels: object, value: number) => void this.gauges.set([name, ...Object.values(labels)].join(" "), value),
      remove: (labels: object) => void this.gauges.delete([name, ...Object.values(labels)].join(" ")),
    });
    const metrics = {
      ...createKafkaMetrics(new Registry()),
      rebalances: counter("rebalance"),
      commitFailures: counter("commit failure"),
      consumerLagRecords: gauge("lag"),
      consumerLagSeconds: gauge("seconds"),
      waitingRecords: gauge("waiting"),
    };
    const connection: Partial<KafkaConnection> = {
      log: { debug: log, info: log, warn: log, error: log } as Log,
      metrics: hasMetrics ? (metrics as unknown as KafkaConnection["metrics"]) : undefined,
      createClient: (clientOptions) => {
        this.clientOptions = clientOptions;
        const made = {
          kafka: this.#kafka,
          destroy: () => {
            this.destroyed += 1;
          },
        };
        return made as unknown as ReturnType<KafkaConnection["createClient"]>;
      },
      withAdmin: async (use) => {
        await this.onAdmin();
        const [admin, cluster] = [this.#admin, this.#adminCluster] as unknown as Parameters<typeof use>;
        return await use(admin, cluster);
      },
      answeringBrokers: () => this.answering,
    };
    return connection as KafkaConnection;
  }

  readonly #admin = {
    fetchTopicOffsets: async () =>
      [...this.ends].map(([partition, end]) => ({ partition, low: String(this.start), high: String(end) })),
    fetchTopicMetadata: async () => ({ topics: [{ partitions: [0, 1, 2].map((partitionId) => ({ partitionId })) }] }),
  };

  readonly #adminCluster = {
    addMultipleTargetTopics: async () => {},
    refreshMetadata: async () => {},
    findTopicPartitionMetadata: () => [0, 1, 2].map((partitionId) => ({ partitionId, leader: 1 })),
    fetchTopicsOffset: async (topics: readonly { readonly topic: string }[]) =>
      topics.map(({ topic }) => ({
        topic,
        partitions: [...this.ends].map(([partition, end]) => ({ partition, offset: String(end) })),
      })),
  };

  #createConsumer(settings: object): object {
    const note = (what: string) => void this.asked.push(what);
    const each = (what: string) => (places: readonly { readonly partitions: readonly number[] }[]) => {
      for (const { partitions } of places) for (const partition of partitions) note(`${what} ${partition}`);
    };
    const { partitionAssigners } = settings as { readonly partitionAssigners: readonly ((config: object) => object)[] };
    this.#cluster = { findGroupCoordinator: async () => this.#createCoordinator() };
    const cluster = Object.assign(this.#cluster, { getNodeIds: () => [1] });
    for (const assigner of partitionAssigners) assigner({ cluster, groupId: "g", logger: undefined });
    return {
      events: EVENTS,
      on: (event: string, listener: Listener) => this.#listeners.set(event, listener),
      connect: () => this.connect(),
      subscribe: async ({ topics, fromBeginning }: { topics: readonly string[]; fromBeginning: boolean }) =>
        note(`subscribe ${topics.join()}${fromBeginning ? " from the beginning" : ""}`),
      run: async ({
        autoCommit,
        eachBatchAutoResolve,
        eachBatch,
      }: Record<string, unknown> & { eachBatch: Handler }) => {
        note(`run${autoCommit ? ", committing" : ""}${eachBatchAutoResolve ? ", resolving" : ""}`);
        this.#handler = eachBatch;
        this.onRun();
      },
      pause: each("pause"),
      resume: each("resume"),
      seek: ({ partition, offset }: { partition: number; offset: string }) => note(`seek ${partition} to ${offset}`),
      disconnect: () => {
        note("disconnect");
        return this.disconnect();
      },
    };
  }

  #createCoordinator(): Coordinator {
    const coordinator = {
      joinGroup: async () => ({}),
      syncGroup: async () => ({}),
      heartbeat: async () => ({}),
      offsetCommit: async (request: object) => {
        const { topics } = request as CommitRequest;
        const places = topics.flatMap(({ partitions }) => partitions);
        this.commits.push(Object.fromEntries(places.map(({ partition, offset }) => [partition, Number(offset)])));
        await this.onCommit();
        for (const { partition, offset } of places) this.committed.set(partition, Number(offset));
      },
      offsetFetch: async ({ topics }: { topics: readonly { topic: string; partitions: readonly CommitPoint[] }[] }) => {
        await this.onOffsetFetch();
        const responses = topics.map(({ topic, partitions }) => ({
          topic,
          partitions: partitions.map(({ partition }) => ({
            partition,
            offset: String(this.committed.get(partition) ?? -1),
            metadata: "",
          })),
        }));
        return { responses };
      },
    };
    return coordinator;
  }
}
