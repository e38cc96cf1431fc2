/** Topic `calls` of the stream, over two control processes. Rule: ET4 of event-tail.ts. */
import type { Event } from "@posthaste/core/event/event";
import { eventKey } from "@posthaste/core/routing/partition-key";
import { createLogWriter, type LogWriter } from "@posthaste/testbed/log-writer";
import { testEvent } from "@posthaste/testbed/test-event";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { type LiveClient, openLive } from "./live-client.ts";
import { control, other, topics, useControls } from "./use-control.ts";

let one: TestControl;
let two: TestControl;
let writer: LogWriter;
let sourceId: string;
const clients: LiveClient[] = [];
let asked: ReturnType<TestControl["call"]> | undefined;

useControls();

beforeAll(async () => {
  [one, two] = [control, other];
  writer = await createLogWriter(topics);
});

beforeEach(async () => {
  ({ id: sourceId } = (await one.call("POST", "/v1/sources", { name: "Shop", kind: "server" })).body);
  for (const control of [one, two]) {
    await eventually(async () => expect((await control.call("GET", `/v1/sources/${sourceId}`)).status).toBe(200));
  }
});

afterEach(() => {
  for (const client of clients.splice(0)) client.cut();
});

afterAll(async () => {
  if (asked !== undefined) expect((await asked).status).toBe(202);
});

async function send(events: readonly Event[]): Promise<void> {
  const codec = await topics.openCodec<Event>("event");
  const topic = topics.names.events;
  await topics.producer.send(
    events.map((event) => ({ topic, key: eventKey(event.sourceId, event), value: codec.encode(event) })),
  );
}

/** Of differing users, in both partitions. */
const taken = (messageId: string, over: Partial<Event> = {}) =>
  testEvent(messageId, { sourceId, receivedAtMs: Date.now(), userId: `u-${messageId}`, ...over });

/** Resolves when the stream said that it is there. */
async function open(control: TestControl, lastId?: string, id = sourceId): Promise<LiveClient> {
  const query = `topics=calls&sourceId=${id}`;
  const client = await eventually(async () => {
    const opened = await openLive(control.url, query, lastId === undefined ? {} : { lastId });
    expect(opened.status).toBe(200);
    return opened;
  });
  clients.push(client);
  await eventually(() => expect(client.events.length).toBeGreaterThan(0));
  return client;
}

const idsOf = (client: LiveClient): string[] => client.rows("calls").map(({ messageIds }) => messageIds[0]);

describe("the stream of a source's calls", () => {
  it("is without what was taken of a user whose events a deletion request stopped", async () => {
    const deletion = { userId: "leaves", sourceIds: [sourceId], suppress: true };
    // It is answered when nobody sends any more who does not know of it, some seconds later.
    asked = one.call("POST", "/v1/deletions", deletion);
    await eventually(async () => {
      const { body } = await one.call("GET", "/v1/suppressions?userId=leaves");
      expect(body.sourceIds).toContain(sourceId);
    });
    const client = await open(one);
    await send([taken("stopped", { userId: "leaves" })]);
    await send([taken("kept", { userId: "leaves-not" })]);
    await send([taken("last", { userId: "leaves", sourceId: "src_2" }), taken("end")]);
    await eventually(() => expect(idsOf(client).toSorted()).toEqual(["end", "kept"]));
  });

  it("has what was taken, rejected and refused as the list has it, of that source alone and from now on", async () => {
    await send([taken("before")]);
    await eventually(async () => {
      const { body } = await one.call("GET", `/v1/sources/${sourceId}/calls`);
      expect(body.data).toHaveLength(1);
    });
    const client = await open(one);
    await send([taken("m-1"), taken("of another", { sourceId: "src_2" })]);
    const call = {
      ...{ rejectedAtMs: Date.now(), code: "missing_user", message: "Say whose it is.", index: 0 },
      ...{ callJson: "{}", messageId: "m-2", userKey: null, event: "Ordered", single: true },
    };
    await writer.rejectedCalls({ sourceId: "src_2", calls: [{ ...call, messageId: "of another" }] });
    await writer.rejectedCalls({ sourceId, calls: [call] });
    const sample = {
      ...{ atMs: Date.now(), status: 429, code: "rate_limited", path: "/v1/batch", bytes: 70, userAgent: "mine/1" },
      ...{ unknownKey: null, messageIds: ["m-3", "m-4"] },
    };
    const counts = { accepted: 1, lastAcceptedMs: Date.now(), rejected: {}, refused: { rate_limited: 1 } };
    const activity = { instance: "i", sinceMs: Date.now(), untilMs: Date.now(), ...counts, samples: [sample] };
    await writer.activity({ ...activity, sourceId: "src_2" });
    await writer.activity({ ...activity, sourceId });
    await eventually(() => expect(idsOf(client).toSorted()).toEqual(["m-1", "m-2", "m-3"]));
    const { body } = await one.call("GET", `/v1/sources/${sourceId}/calls`);
    const listed = body.data.filter(({ messageIds }: { messageIds: string[] }) => messageIds[0] !== "before");
    const byId = (rows: readonly { id: string }[]) => rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(byId(client.rows("calls"))).toEqual(byId(listed));
  });

  it("ET4: goes on where it was cut, at another process that nobody asked before", async () => {
    const first = await open(one);
    await send([taken("a"), taken("b")]);
    await eventually(() => expect(idsOf(first)).toHaveLength(2));
    first.cut();
    await send([taken("c"), taken("d")]);
    const second = await open(two, first.lastId());
    await send([taken("e")]);
    await eventually(() => expect(idsOf(second).toSorted()).toEqual(["c", "d", "e"]));
    expect(second.rows("reset")).toEqual([]);
  });

  it("ET4: goes on for who watches while another source is asked about, with each call once", async () => {
    const { id: other } = (await one.call("POST", "/v1/sources", { name: "Other", kind: "web" })).body;
    const [here, there] = [await open(one), await open(one, undefined, other)];
    const named = Array.from({ length: 8 }, (_, n) => `n-${n}`);
    for (const [index, messageId] of named.entries()) {
      await send([taken(messageId), taken(`o-${messageId}`, { sourceId: other })]);
      // Each source that is new has the readers begin again.
      if (index % 2 === 0) await one.call("GET", `/v1/sources/unknown/calls`);
      if (index === 4) await open(one, undefined, (await one.call("POST", "/v1/sources", NEW)).body.id);
    }
    await eventually(() => {
      expect(idsOf(here).toSorted()).toEqual(named);
      expect(idsOf(there).toSorted()).toEqual(named.map((id) => `o-${id}`));
    });
    expect([here, there].flatMap((client) => client.rows("reset"))).toEqual([]);
  });

  it("ET4: says so where what came since is more than the readers look back", async () => {
    const first = await open(one);
    await send([taken("seen")]);
    await eventually(() => expect(idsOf(first)).toEqual(["seen"]));
    first.cut();
    const { id: fresh } = (await one.call("POST", "/v1/sources", NEW)).body;
    for (let n = 0; n < 3; n += 1) {
      await send(Array.from({ length: 1000 }, (_, m) => taken(`x-${n}-${m}`, { sourceId: "src_2" })));
    }
    // It begins some records before the end, and held nothing of this source.
    const third = await startTestControl(topics);
    const second = await open(third, first.lastId());
    expect(second.events[0]).toMatchObject({ event: "reset", data: { topics: ["calls"] } });
    await send([taken("after")]);
    await eventually(() => expect(idsOf(second)).toEqual(["after"]));
    expect((await open(third, undefined, fresh)).rows("reset")).toEqual([]);
    await third.stop();
  });

  it.each([
    ["topics=calls", 400, "sourceId: calls are those of one source"],
    ["topics=calls&sourceId=src_none", 404, "src_none"],
    ["topics=calls&sourceId=unknown&event=x", 400, "event: no topic of calls has this filter"],
  ])("is refused for %j", async (query, status, detail) => {
    const answer = await one.call("GET", `/v1/live?${query}`);
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(detail)]);
  });
});

const NEW = { name: "New", kind: "web" };
