/** A stream that is cut goes on where it was, without a gap or a repeat. Rules: LV1, LV2 and LV4 of live-stream.ts. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attemptAt, createLogWriter, deadLetterAt, type LogWriter } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { openByteProxy } from "@posthaste/testkit/byte-proxy";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { type LiveClient, openLive } from "./live-client.ts";

const ALL = "topics=deliveries,dead-letters,audit,replays,health";

let topics: TestTopics;
let writer: LogWriter;
let folder: string;
let one: TestControl;
let two: TestControl;
let clients: LiveClient[] = [];
/** Of the messages that a test writes. */
let written: string[] = [];
/** The last records of each partition: a message, and the dead letter behind it. */
const lastWritten = new Map<number, { readonly message: string; readonly deadLetter: string }>();
let tests = 0;

const startOne = () => startTestControl(topics, { env: { POSTHASTE_CONTROL_DATA_DIR: folder } });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-live-"));
  topics = await createTestTopics("control");
  writer = await createLogWriter(topics);
  [one, two] = await Promise.all([startOne(), startTestControl(topics)]);
});

beforeEach(async () => {
  tests += 1;
  written = [];
  // A stream begins at its process's position, so both processes first read the records of earlier tests.
  for (const { message, deadLetter } of lastWritten.values()) {
    for (const control of [one, two]) {
      await eventually(async () => {
        const lists = [`deliveries?messageId=${message}`, `dead-letters?event=${deadLetter}`];
        const answers = await Promise.all(lists.map((list) => control.call("GET", `/v1/${list}`)));
        expect(answers.map(({ body }) => body.data.length)).toEqual([1, 1]);
      });
    }
  }
});

afterEach(() => {
  for (const client of clients) client.cut();
  clients = [];
});

afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await topics.remove();
  await rm(folder, { recursive: true });
});

/** Resolves when the stream said that it is there; a control that has not begun to read is asked again. */
async function open(url: string, query: string, lastId?: string): Promise<LiveClient> {
  const client = await eventually(async () => {
    const found = await openLive(url, query, lastId === undefined ? {} : { lastId });
    expect(found.status).toBe(200);
    return found;
  });
  clients.push(client);
  await eventually(() => expect(client.events.length).toBeGreaterThan(0));
  return client;
}

/** So many attempts in one record of a partition, and a dead letter. */
async function write(count: number, partition = 0): Promise<void> {
  const named = Array.from({ length: count }, (_, n) => `${tests}-${written.length + n}`);
  written.push(...named);
  await writer.attempts(
    named.map((messageId, n) => attemptAt(n, { messageId })),
    partition,
  );
  const deadLetter = `letter-${named[0]}`;
  await writer.deadLetters([deadLetterAt(1, { messageId: deadLetter, event: deadLetter })], partition);
  lastWritten.set(partition, { message: named.at(-1) ?? "", deadLetter });
}

const messagesOf = (topic: string) => clients.flatMap((each) => each.rows(topic).map(({ messageId }) => messageId));

/** Every message and dead letter came once, to whichever client. */
async function expectAllOnce(): Promise<void> {
  await eventually(() => expect(new Set(messagesOf("deliveries")).size).toBe(written.length));
  await eventually(() => expect(messagesOf("dead-letters").length).toBeGreaterThan(0));
  // A repeat would come before the records that are written now.
  for (const partition of [0, 1]) {
    await write(1, partition);
    const { message = "", deadLetter = "" } = lastWritten.get(partition) ?? {};
    await eventually(() =>
      expect([...messagesOf("deliveries"), ...messagesOf("dead-letters")]).toEqual(
        expect.arrayContaining([message, deadLetter]),
      ),
    );
  }
  expect(messagesOf("deliveries").toSorted()).toEqual(written.toSorted());
  expect(new Set(messagesOf("dead-letters")).size).toBe(messagesOf("dead-letters").length);
  expect(clients.flatMap((each) => each.rows("reset"))).toEqual([]);
}

describe("a stream goes on, and has everything once,", () => {
  it("after its socket was destroyed, and at the other process too", async () => {
    const first = await open(one.url, ALL);
    await write(3, 0);
    await write(2, 1);
    await eventually(() => expect(first.rows("deliveries")).toHaveLength(5));
    first.cut();
    await write(4, 1);
    const second = await open(two.url, ALL, first.lastId());
    await write(1, 0);
    await eventually(() => expect(second.rows("deliveries")).toHaveLength(5));
    second.cut();
    await write(2, 0);
    await open(one.url, ALL, second.lastId());
    await expectAllOnce();
  });

  it("LV1: after any one event, also in the middle of a record", async () => {
    const all = await open(one.url, "topics=deliveries");
    const firstId = all.lastId();
    await write(4, 0);
    await write(3, 1);
    await eventually(() => expect(all.rows("deliveries")).toHaveLength(7));
    const rows = all.events.filter(({ event }) => event === "deliveries");
    for (const [index, { id }] of [{ id: firstId }, ...rows].entries()) {
      const rest = await open(two.url, "topics=deliveries", id);
      const expected = rows.slice(index).map(({ data }) => data.messageId);
      await eventually(() => {
        const found = rest.rows("deliveries").map(({ messageId }) => messageId);
        expect(found.toSorted()).toEqual(expected.toSorted());
      });
    }
  });

  it("after a silence, which the missing beat shows", async () => {
    const proxy = await openByteProxy(one.url);
    const stalled = await open(proxy.url, ALL);
    await write(2);
    await eventually(() => expect(stalled.rows("deliveries")).toHaveLength(2));
    proxy.hold();
    await write(3);
    await eventually(async () => {
      const { body } = await one.call("GET", `/v1/deliveries?messageId=${written.at(-1)}`);
      expect(body.data).toHaveLength(1);
    });
    // Events that the proxy passed on before it held, such as the first dead letter, may have come later.
    expect([stalled.rows("deliveries").length, stalled.ended()]).toEqual([2, null]);
    // A client that misses the heartbeat closes the connection: no client got the events still on their way.
    stalled.cut();
    await open(two.url, ALL, stalled.lastId());
    await write(1);
    await expectAllOnce();
    await proxy.close();
  });

  it("after control was restarted, which knows by its file what it read before", async () => {
    const before = await open(one.url, ALL);
    await write(3, 1);
    await eventually(() => expect(before.rows("deliveries")).toHaveLength(3));
    before.cut();
    // It is read and kept by the control that ends, and seen by nobody.
    await write(2, 0);
    await eventually(async () => {
      const { body } = await one.call("GET", `/v1/deliveries?messageId=${written.at(-1)}`);
      expect(body.data).toHaveLength(1);
    });
    await one.stop();
    await write(2, 1);
    one = await startOne();
    await open(one.url, ALL, before.lastId());
    await write(1, 0);
    await expectAllOnce();
  });

  it("for eight at once", async () => {
    const eight = await Promise.all(Array.from({ length: 8 }, (_, n) => open(n % 2 === 0 ? one.url : two.url, ALL)));
    for (let n = 0; n < 6; n += 1) await write(50, n % 2);
    for (const client of eight) {
      await eventually(() => {
        expect([client.rows("deliveries").length, client.rows("dead-letters").length]).toEqual([300, 6]);
      });
      const found = client.rows("deliveries").map(({ messageId }) => messageId);
      expect(found.toSorted()).toEqual(written.toSorted());
    }
  });

  it("where the id stands in the query, which a browser's new stream cannot put elsewhere", async () => {
    const first = await open(one.url, "topics=deliveries");
    first.cut();
    await write(2);
    const { href } = new URL(`?lastEventId=${encodeURIComponent(first.lastId())}`, "http://x/");
    await open(two.url, `topics=deliveries&${href.split("?")[1]}`);
    await eventually(() => expect(messagesOf("deliveries")).toEqual(written));
  });
});

describe("LV2: a reset comes first, and the stream goes on,", () => {
  it.each(["once", "d=", "d=zzzzzzzzzzzz", "d=1-2"])("for an id such as %j, which was never sent", async (id) => {
    const client = await open(one.url, "topics=deliveries", id);
    await write(1);
    await eventually(() => expect(messagesOf("deliveries")).toEqual(written));
    expect(client.events[0]?.event).toBe("reset");
  });

  it("where the id lies beyond the topic's end: it is of another topic", async () => {
    const client = await open(one.url, "topics=deliveries", "d=zzzzz,zzzzz");
    await eventually(() => expect(client.rows("reset")).toHaveLength(1));
    await write(1);
    await eventually(() => expect(client.rows("deliveries")).toHaveLength(1));
  });
});
