/** The newest events of sources, from the end of the topic. Rules: event-tail.ts and topic-end.ts. */
import type { Codec } from "@posthaste/contracts/codec";
import { PosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import { eventKey } from "@posthaste/core/routing/partition-key";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { testEvent } from "@posthaste/testbed/test-event";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { remakeTopic } from "@posthaste/testkit/topics";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EventTail, type EventTailOptions, type WatchedEvents } from "../src/configuration/sources/event-tail.ts";

let topics: TestTopics;
let codec: Codec<Event>;
let now: number;
/** Of each test its own. */
let sourceId: string;
let count = 0;
const tails: EventTail[] = [];
const ended = new AbortController();
const { signal } = ended;

beforeAll(async () => {
  topics = await createTestTopics("event-tail");
  codec = await topics.openCodec<Event>("event");
});
beforeEach(() => {
  now = 0;
  count += 1;
  sourceId = `src_${count}`;
});
afterEach(async () => {
  for (const tail of tails.splice(0)) await tail.close();
});
afterAll(() => topics.remove());

function createTail(over: Partial<EventTailOptions> = {}): EventTail {
  const { connection, names } = topics;
  const given = { connection, topic: names.events, codec, unknownSchemaMs: 60_000, monotonicMs: () => now };
  // A machine that stands still may not come to the end of a topic within the two seconds of a question.
  const tail = new EventTail({ ...given, idleLookMs: 100, patienceMs: 60_000, ...over });
  tails.push(tail);
  return tail;
}

async function send(partition: number, ...messageIds: readonly string[]): Promise<void> {
  const events = messageIds.map((id) => testEvent(id, { sourceId }));
  await sendValues(
    partition,
    events.map((event) => codec.encode(event)),
  );
}

async function sendValues(partition: number, values: readonly Buffer[]): Promise<void> {
  const [topic, key] = [topics.names.events, eventKey(sourceId, testEvent(""))];
  await topics.producer.send(values.map((value) => ({ topic, partition, key, value })));
}

const idsOf = ({ recent }: WatchedEvents) => Array.from(recent.from(0), ({ value }) => value.event.messageId);
const partitionsOf = ({ recent }: WatchedEvents) => [...recent.partitions()].toSorted();

/** A connection, and the clients of it that are not destroyed. */
function countClients(): { readonly connection: KafkaConnection; readonly clients: ReadonlySet<object> } {
  const clients = new Set<object>();
  const { connection } = topics;
  const createClient: KafkaConnection["createClient"] = (options) => {
    const client = connection.createClient(options);
    const destroy = client.destroy.bind(client);
    clients.add(client);
    return Object.assign(client, {
      destroy: () => {
        clients.delete(client);
        destroy();
      },
    });
  };
  return { connection: { ...connection, createClient }, clients };
}

type Admin = Parameters<Parameters<KafkaConnection["withAdmin"]>[0]>[0];

/** As the brokers answer while some partitions have no leader, or are not there. */
function withMissing(missing: ReadonlySet<number>, areThere: boolean): KafkaConnection {
  const hidden = (admin: Admin): Admin =>
    Object.assign(Object.create(admin), {
      fetchTopicOffsets: async (topic: string) =>
        (await admin.fetchTopicOffsets(topic)).filter(({ partition }) => !missing.has(partition)),
      fetchTopicMetadata: async (asked: { topics: string[] }) => {
        const { topics: found } = await admin.fetchTopicMetadata(asked);
        const isShown = ({ partitionId }: { partitionId: number }) => areThere || !missing.has(partitionId);
        return { topics: found.map((each) => ({ ...each, partitions: each.partitions.filter(isShown) })) };
      },
    });
  const { connection } = topics;
  return { ...connection, withAdmin: (use) => connection.withAdmin((admin, cluster) => use(hidden(admin), cluster)) };
}

it("is whole at once where nothing stands in the topic", async () => {
  const { events, freshness } = await createTail().newest(sourceId);
  expect([events, freshness]).toEqual([[], { complete: true, asOfMs: expect.any(Number) }]);
});

describe("the events of a source that is watched", () => {
  it("EN2: come from every partition and once after a reader of one failed for good", async () => {
    let faults = 0;
    const failing = (bytes: Buffer) => {
      const event = codec.decode(bytes);
      if (event.messageId !== "fails once" || faults > 0) return event;
      faults += 1;
      throw new TypeError("a fault of the test's");
    };
    const watched = await createTail({ codec: { ...codec, decode: failing } }).watch(sourceId, signal);
    await send(0, "a");
    await send(1, "b");
    await eventually(() => expect(idsOf(watched).toSorted()).toEqual(["a", "b"]));
    // The reader of partition 0 knows only the end offset from its own start.
    await send(0, "fails once");
    await eventually(() => expect(faults).toBe(1));
    await send(1, "c");
    await eventually(() => expect(idsOf(watched).toSorted()).toEqual(["a", "b", "c", "fails once"]));
    expect(watched.recent.restarts).toBe(0);
    await eventually(() => expect(watched.freshness().complete).toBe(true));
  });

  it.each([
    ["that has no leader at first", true],
    ["that is added", false],
  ])("EN3: come from a partition too %s", async (_, areThere) => {
    const missing = new Set([1]);
    const tail = createTail({ connection: withMissing(missing, areThere) });
    const watched = await tail.watch(sourceId, signal);
    expect(partitionsOf(watched)).toEqual([0]);
    await send(0, "a");
    await send(1, "b");
    await eventually(() => expect(idsOf(watched)).toEqual(["a"]));
    const known = { complete: true, asOfMs: expect.any(Number) };
    expect(watched.freshness()).toEqual(areThere ? { complete: false, asOfMs: null } : known);
    expect((await tail.newest(sourceId)).freshness.complete).toBe(!areThere);
    missing.clear();
    await eventually(() => expect(idsOf(watched)).toEqual(["a", "b"]));
    await eventually(() => expect(watched.freshness()).toEqual(known));
    expect((await tail.newest(sourceId)).events.map(({ event }) => event.messageId).toSorted()).toEqual(["a", "b"]);
  });

  it("ET4: come when their schema does, which was away, and once where the readers began again meanwhile", async () => {
    let [isAway, asked, begun, faults] = [true, 0, 0, 0];
    const prefetch = (bytes: Buffer) => {
      asked += 1;
      if (!isAway) return codec.prefetch(bytes);
      return Promise.reject(new PosthasteError("registry_unavailable", "away", { retryable: true }));
    };
    const decode = (bytes: Buffer) => {
      if (String(bytes) !== "fault" || faults > 0) return codec.decode(bytes);
      faults += 1;
      throw new TypeError("a fault of the test's");
    };
    const { connection } = topics;
    const withAdmin: KafkaConnection["withAdmin"] = (use) => {
      begun += 1;
      return connection.withAdmin(use);
    };
    const tail = createTail({
      ...{ codec: { ...codec, prefetch, decode }, connection: { ...connection, withAdmin }, idleLookMs: 3_600_000 },
    });
    const watched = await tail.watch(sourceId, signal);
    await send(0, "a");
    await eventually(() => expect(asked).toBeGreaterThan(1));
    // Only a failure restarts the readers.
    expect([idsOf(watched), begun]).toEqual([[], 1]);
    await sendValues(1, [Buffer.from("fault")]);
    await eventually(() => expect([faults, begun]).toEqual([1, 2]));
    isAway = false;
    await send(0, "b");
    await eventually(() => expect(idsOf(watched)).toEqual(["a", "b"]));
  });

  it("ET4: come after bytes that are no event", async () => {
    const watched = await createTail().watch(sourceId, signal);
    await sendValues(0, [Buffer.from("no event")]);
    await send(0, "a");
    await eventually(() => expect(idsOf(watched)).toEqual(["a"]));
  });
});

describe("a question for a source's newest events", () => {
  it("is answered when another source that is asked about has the readers begin again meanwhile", async () => {
    await send(0, "a");
    // The readers that begin first hear nothing; those that begin again do.
    let isSeen = false;
    const { connection } = topics;
    const withAdmin: KafkaConnection["withAdmin"] = async (use) => {
      if (isSeen) return connection.withAdmin(use);
      isSeen = true;
      return new Promise(() => {});
    };
    const tail = createTail({ connection: { ...connection, withAdmin } });
    const first = tail.newest(sourceId);
    await eventually(() => expect(isSeen).toBe(true));
    const other = tail.newest("src_other");
    const { events, freshness } = await first;
    expect([events.map(({ event }) => event.messageId), freshness.complete]).toEqual([["a"], true]);
    await other;
  });

  it("ET1: has the topic read for half a minute more, and longer where somebody watches", async () => {
    const watching = countClients();
    const watched = await createTail(watching).watch(sourceId, signal);
    const [leaving, ended] = [countClients(), new AbortController()];
    await createTail(leaving).watch(sourceId, ended.signal);
    const asking = countClients();
    const tail = createTail(asking);
    expect(asking.clients.size).toBe(0);
    await tail.newest(sourceId);
    await eventually(() => expect(asking.clients.size).toBeGreaterThan(0));
    now = 30_001;
    ended.abort();
    // Its timer runs after the timers of the other two tails.
    await eventually(() => expect(asking.clients.size).toBe(0));
    await eventually(() => expect(leaving.clients.size).toBeGreaterThan(0));
    await send(0, "a");
    await eventually(() => expect(idsOf(watched)).toEqual(["a"]));
  });

  it("ET3: has the source give way that was asked about longest ago", async () => {
    let decoded = 0;
    const decode = (bytes: Buffer) => {
      decoded += 1;
      return codec.decode(bytes);
    };
    const tail = createTail({ codec: { ...codec, decode }, bounds: { sources: 2, watched: 1 } });
    await send(0, "a");
    for (const id of [sourceId, "src_b", sourceId, "src_c", sourceId]) await tail.newest(id);
    // Of one that gave way everything is read again.
    expect(decoded).toBe(1);
  });

  it("ET3: is answered however many are watched, of which there are no more than the bound", async () => {
    const tail = createTail({ bounds: { sources: 4, watched: 3 } });
    const watching = new AbortController();
    sourceId = "src_w1";
    const watched = await tail.watch(sourceId, watching.signal);
    expect(partitionsOf(watched)).toEqual([0, 1]);
    for (const id of ["src_w2", "src_w3"]) await tail.watch(id, watching.signal);
    await expect(tail.watch("src_w4", signal)).rejects.toMatchObject({ kind: "too_many_requests" });
    // One that is watched already is watched by many.
    await expect(tail.watch("src_w3", signal)).resolves.toBeDefined();
    for (const id of ["src_l1", "src_l2"]) {
      expect((await tail.newest(id)).freshness.complete).toBe(true);
    }
    await send(0, "a");
    await eventually(() => expect(idsOf(watched)).toEqual(["a"]));
    watching.abort();
    await expect(tail.watch("src_w4", signal)).resolves.toBeDefined();
  });
});

it("EN2, ET4: nothing of a topic counts that was made anew, also where its end lies beyond what was read", async () => {
  const { names, connection } = topics;
  const patience = { timeoutMs: 60_000, intervalMs: 200 };
  await remakeTopic(names.events, { partitions: 2 });
  await eventually(() => send(0, "old"), patience);
  let mayAsk = Promise.withResolvers<void>();
  mayAsk.resolve();
  const tail = createTail({
    connection: { ...connection, withAdmin: async (use) => mayAsk.promise.then(() => connection.withAdmin(use)) },
  });
  const watched = await eventually(() => tail.watch(sourceId, signal), patience);
  await eventually(() => expect(idsOf(watched)).toContain("old"), patience);
  // The end of the other topic is asked for when it has more than was read of the first.
  mayAsk = Promise.withResolvers();
  await remakeTopic(names.events, { partitions: 2 });
  await eventually(() => send(0, "x", "y", "z"), patience);
  await eventually(() => send(1, "v"), patience);
  mayAsk.resolve();
  await eventually(() => expect(new Set(idsOf(watched))).toEqual(new Set(["v", "x", "y", "z"])), patience);
  expect(watched.recent.restarts).toBe(1);
  const { events } = await tail.newest(sourceId);
  expect(events.map(({ event }) => event.messageId)).not.toContain("old");
}, 150_000);
