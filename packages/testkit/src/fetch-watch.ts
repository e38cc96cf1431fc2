/**
 * Tells which fetches the kafkajs clients of a connection have out. kafkajs has no event for a fetch that is sent, so
 * the watch takes the place of `fetch` in each broker that a client finds.
 */

/** One fetch, and whether its answer is still waited for. */
export interface WatchedFetch {
  /** As `topic/partition`, in order of their names. */
  readonly partitions: readonly string[];
  /** Of the whole answer, and the most that was asked for of one partition. */
  readonly maxBytes: number;
  readonly maxPartitionBytes: number;
  readonly isOut: boolean;
  readonly hasFailed: boolean;
}

export interface FetchWatch<C> {
  /** The connection, whose clients are watched from now on. */
  readonly connection: C;
  /** All fetches so far, in the order of their sending. */
  readonly fetches: readonly WatchedFetch[];
  /** The partitions of each fetch that is out, in the order of their sending. */
  out(): readonly (readonly string[])[];
}

interface FetchRequest {
  readonly maxBytes: number;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly maxBytes: number }[];
  }[];
}

interface Broker {
  fetch(request: FetchRequest): Promise<unknown>;
}

interface Cluster {
  findBroker(query: object): Promise<Broker>;
}

type CreateCluster = (options: object) => Cluster;

/** `onAnswer` is called at the end of each fetch, after its sender has gone on. */
export function watchFetches<O, C extends { createClient(options?: O): { readonly kafka: object } }>(
  connection: C,
  onAnswer: () => void = () => {},
): FetchWatch<C> {
  const fetches: (WatchedFetch & { isOut: boolean; hasFailed: boolean })[] = [];
  const watch = (broker: Broker) => {
    const fetch = broker.fetch.bind(broker);
    broker.fetch = async (request) => {
      const asked = request.topics.flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, maxBytes }) => ({ name: `${topic}/${partition}`, maxBytes })),
      );
      const watched = {
        partitions: asked.map(({ name }) => name).sort(),
        maxBytes: request.maxBytes,
        maxPartitionBytes: Math.max(...asked.map(({ maxBytes }) => maxBytes)),
        isOut: true,
        hasFailed: false,
      };
      fetches.push(watched);
      try {
        return await fetch(request);
      } catch (error) {
        watched.hasFailed = true;
        throw error;
      } finally {
        watched.isOut = false;
        setImmediate(onAnswer);
      }
    };
  };
  const createClient = (options?: O) => {
    const client = connection.createClient(options);
    eachBroker(client.kafka, watch);
    return client;
  };
  return {
    connection: { ...connection, createClient },
    fetches,
    out: () => fetches.filter(({ isOut }) => isOut).map(({ partitions }) => partitions),
  };
}

/** Calls `onBroker` once for each broker that a cluster of `kafka` finds from now on. */
function eachBroker(kafka: object, onBroker: (broker: Broker) => void): void {
  const symbol = Object.getOwnPropertySymbols(kafka).find((each) => each.description?.endsWith("createCluster"));
  if (symbol === undefined) throw new Error("this kafkajs makes its clusters elsewhere");
  const create: CreateCluster = Reflect.get(kafka, symbol);
  const found = new WeakSet<Broker>();
  Reflect.set(kafka, symbol, (options: object) => {
    const cluster = create(options);
    const findBroker = cluster.findBroker.bind(cluster);
    cluster.findBroker = async (query) => {
      const broker = await findBroker(query);
      if (!found.has(broker)) onBroker(broker);
      found.add(broker);
      return broker;
    };
    return cluster;
  });
}
