/** Over the real broker: UP3 and UP4 of reproduction.ts, UJ1 and UJ2 of unreadable-entries.ts. */
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

/** Kafka's code of the resource type topic, for a change of its settings. */
const KAFKAS_TOPIC = 2;

let topics: TestTopics;
let control: TestControl;
let offset = 0;

beforeAll(async () => {
  topics = await createTestTopics("control", { partitions: 1, retryDelaysMs: [300, 10_000] });
  control = await startTestControl(topics);
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

interface QuarantineOptions {
  readonly value?: Buffer;
  readonly atMs?: number;
  readonly more?: Readonly<Record<string, string>>;
}

/** Puts a record aside as a service does; answers its place. */
async function quarantine(
  topic: string,
  { value = Buffer.from("no schema"), atMs = 5, more = {} }: QuarantineOptions = {},
): Promise<string> {
  offset += 1;
  const place = { "unreadable-topic": topic, "unreadable-partition": "0", "unreadable-offset": String(offset) };
  const headers = { ...place, "unreadable-reason": "not_framed", "unreadable-at-ms": String(atMs), ...more };
  await topics.producer.send([{ topic: topics.names.unreadable, key: null, value, headers, partition: 0 }]);
  return `${topic}/0/${offset}`;
}

/** The answer to a call that leaves no place for a next call. */
const answerOf = (matched: number, reproduced: number, refusedPlaces: readonly string[] = []) => ({
  ...{ matched, reproduced, refused: refusedPlaces.length, refusedPlaces, nextCursor: null },
});

const reproduce = (places: readonly string[]) => control.call("POST", "/v1/unreadable/reproduce", { places });

function setLimit(topic: string, value: string): Promise<unknown> {
  return topics.connection.withAdmin((admin) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: KAFKAS_TOPIC, name: topic, configEntries: [{ name: "max.message.bytes", value }] }],
    }),
  );
}

async function listed(query = ""): Promise<{ readonly places: string[]; readonly nextCursor: string | null }> {
  const { status, body } = await control.call("GET", `/v1/unreadable?limit=200${query}`);
  expect(status).toBe(200);
  return { places: body.data.map(({ place }: { place: string }) => place), nextCursor: body.nextCursor };
}

it("UP3, UP4: a record that its topic does not take is not marked as produced again, and stands in nobody's way", async () => {
  const topic = topics.names.events;
  await setLimit(topic, "1000");
  // The broker that leads the partition hears of a limit a moment after it was set.
  const place = await eventually(async () => {
    const quarantined = await quarantine(topic, { value: Buffer.alloc(4000, "x") });
    expect((await reproduce([quarantined])).body).toEqual(answerOf(1, 0, [quarantined]));
    return quarantined;
  });
  expect((await listed()).places).toContain(place);
  const later = await quarantine(topic);
  expect((await reproduce([place, later])).body).toEqual(answerOf(2, 1, [place]));
  expect((await listed()).places).toContain(place);
  await setLimit(topic, "1000000");
  await eventually(async () => {
    expect((await reproduce([place])).body).toEqual(answerOf(1, 1));
  });
  expect((await listed()).places).not.toContain(place);
  const { data: reported } = (await control.call("GET", "/v1/audit?operation=reproduceUnreadable")).body;
  expect(reported).toHaveLength(new Set(reported.map(({ requestId }: { requestId: string }) => requestId)).size);
});

it("UP3: cut off between the record and its mark, it is produced again by who asks again, and lost by nobody", async () => {
  const { events, unreadable } = topics.names;
  const endOfEvents = async () => {
    const ends = await topics.connection.withAdmin((admin) => admin.fetchTopicOffsets(events));
    return ends.reduce((sum, { high }) => sum + Number(high), 0);
  };
  const place = await quarantine(events);
  expect((await listed()).places).toContain(place);
  const before = await endOfEvents();
  // No mark fits.
  await setLimit(unreadable, "10");
  const nothing = { topic: unreadable, key: null, value: null, partition: 0, headers: { reproduced: "none/0/0" } };
  await eventually(async () => {
    expect(
      await topics.producer.send([nothing]).then(
        () => "taken",
        () => "refused",
      ),
    ).toBe("refused");
  });
  expect((await reproduce([place])).status).toBeGreaterThanOrEqual(400);
  expect([await endOfEvents(), (await listed()).places.includes(place)]).toEqual([before + 1, true]);
  await setLimit(unreadable, "1000000");
  await eventually(async () => {
    expect((await reproduce([place])).body).toEqual(answerOf(1, 1));
  });
  expect((await listed()).places).not.toContain(place);
  expect((await reproduce([place])).body).toEqual(answerOf(0, 0));
});

it("UP4: one whose topic is gone stays, one of a retry topic that is gone goes to the shortest", async () => {
  const { names } = topics;
  const stays = await quarantine(`${topics.prefix}.no-such-topic`);
  const moved = await quarantine(`${names.retryPrefix}7h`);
  const other = await quarantine(names.events);
  expect((await reproduce([stays, moved, other])).body).toEqual(answerOf(3, 2));
  expect((await listed()).places).toEqual([stays]);
  expect((await reproduce([stays])).body).toEqual(answerOf(1, 0));
  const [end] = await topics.connection.withAdmin((admin) => admin.fetchTopicOffsets(`${names.retryPrefix}300ms`));
  expect(end?.high).toBe("1");
});

it("UP4: one that retention took is listed no more, and stands in nobody's way", async () => {
  const { unreadable, events } = topics.names;
  const gone = await quarantine(events);
  expect((await listed()).places).toContain(gone);
  await topics.connection.withAdmin(async (admin) => {
    const [end] = await admin.fetchTopicOffsets(unreadable);
    await admin.deleteTopicRecords({ topic: unreadable, partitions: [{ partition: 0, offset: end?.high ?? "" }] });
  });
  const kept = await quarantine(events);
  expect((await reproduce([gone, kept])).body).toEqual(answerOf(1, 1));
  await eventually(async () => expect((await listed("&reproduced=true")).places).not.toContain(gone));
});

it("UP4: a thousand that do not go stand before no other, by the cursor of the call before", async () => {
  const { unreadable, events } = topics.names;
  const quarantined = (topic: string, index: number) => ({
    ...{ topic: unreadable, key: null, value: Buffer.from("{"), partition: 0 },
    headers: {
      ...{ "unreadable-topic": topic, "unreadable-partition": "2", "unreadable-offset": String(index) },
      ...{ "unreadable-reason": "not_of_schema", "unreadable-at-ms": String(Math.floor(index / 300)) },
    },
  });
  const staying = Array.from({ length: 1001 }, (_, index) => quarantined(`${topics.prefix}.no-such-topic`, index));
  await topics.producer.send([...staying, quarantined(events, 1500), quarantined(events, 1501)]);
  const call = async (more: object = {}) => {
    const asked = { reason: "not_of_schema", ...more };
    return (await control.call("POST", "/v1/unreadable/reproduce", asked)).body;
  };
  const first = await call();
  expect(first).toMatchObject({ matched: 1003, reproduced: 0, nextCursor: expect.any(String) });
  expect(await call({ cursor: first.nextCursor, dryRun: true })).toMatchObject({ matched: 3, reproduced: 0 });
  expect(await call({ cursor: first.nextCursor })).toMatchObject({ matched: 3, reproduced: 2, nextCursor: null });
  expect(await call({ cursor: first.nextCursor })).toMatchObject({ matched: 1, reproduced: 0, nextCursor: null });
  expect((await control.call("POST", "/v1/unreadable/reproduce", { cursor: "x" })).status).toBe(400);
});

it("what was quarantined is listed in pages, whichever of it is produced again meanwhile", async () => {
  const places: string[] = [];
  for (const atMs of [100, 101, 101, 102]) places.unshift(await quarantine(topics.names.events, { atMs }));
  // Of one moment, by their places.
  [places[1], places[2]] = [places[1] ?? "", places[2] ?? ""].sort() as [string, string];
  const first = (await control.call("GET", "/v1/unreadable?limit=2")).body;
  expect(first.data.map(({ place }: { place: string }) => place)).toEqual(places.slice(0, 2));
  expect((await reproduce([places[1] ?? ""])).body.reproduced).toBe(1);
  expect((await listed(`&cursor=${first.nextCursor}`)).places.slice(0, 2)).toEqual(places.slice(2));
  expect((await control.call("GET", "/v1/unreadable?cursor=x")).status).toBe(400);
});

it("two calls at once produce a record once; one whose value was left out is produced by none", async () => {
  const { events } = topics.names;
  const place = await quarantine(events);
  const answers = await Promise.all([reproduce([place]), reproduce([place])]);
  expect(answers.map(({ body }) => body.reproduced).sort()).toEqual([0, 1]);
  const cut = await quarantine(events, { more: { "unreadable-value-left-out": "true" } });
  expect((await listed()).places).toContain(cut);
  expect((await reproduce([cut])).body).toEqual(answerOf(0, 0));
});

it("UJ1, UJ2: of whatever came the newest 10,000 are held, each once, by a control that began later too", async () => {
  const { unreadable, events } = topics.names;
  const many = Array.from({ length: 10_100 }, (_, index) => ({
    ...{ topic: unreadable, key: null, value: null, partition: 0 },
    headers: {
      ...{ "unreadable-topic": events, "unreadable-partition": "1", "unreadable-offset": String(index) },
      ...{ "unreadable-reason": "not_framed", "unreadable-at-ms": String(1000 + index) },
    },
  }));
  for (let from = 0; from < many.length; from += 1000) await topics.producer.send(many.slice(from, from + 1000));
  await topics.producer.send(many.slice(-50));
  const counted = async (on: TestControl) =>
    (await on.call("POST", "/v1/unreadable/reproduce", { dryRun: true })).body.matched;
  expect(await counted(control)).toBe(10_000);
  expect((await listed()).places[0]).toBe(`${events}/1/10099`);
  const later = await startTestControl(topics);
  expect(await counted(later)).toBe(10_000);
  await later.stop();
});
