/**
 * Rules: TF4 of topic-follower.ts, MF4 of membership-follower.ts, AW2 of awaited-schemas.ts, UP1 to UP3 of
 * reproduction.ts.
 */

import type { MembershipRecord } from "@posthaste/core/audience/membership";
import type { AttemptBatch } from "@posthaste/core/delivery/attempt-record";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { attemptAt, createLogWriter, deadLetterAt, type LogWriter } from "@posthaste/testbed/log-writer";
import { openPoisonRecords, type PoisonRecords } from "@posthaste/testbed/poison-records";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

const SETTING = { POSTHASTE_UNKNOWN_SCHEMA_WAIT: "5s" };

let topics: TestTopics;
let poison: PoisonRecords;
let control: TestControl;
let writer: LogWriter;

beforeAll(async () => {
  topics = await createTestTopics("control", { retryDelaysMs: [300, 10_000] });
  poison = await openPoisonRecords(topics);
  writer = await createLogWriter(topics);
  control = await startTestControl(topics, { env: { ...SETTING, SCHEMA_REGISTRY_URL: poison.registryUrl } });
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
  await poison.close();
});

const send = (topic: string, value: Buffer, headers: Readonly<Record<string, string>> = {}) =>
  topics.producer.send([{ topic, key: "dst_1:user-7", value, headers, partition: 0 }]);

async function list(query = "") {
  const { status, body } = await control.call("GET", `/v1/unreadable${query}`);
  expect(status).toBe(200);
  return body.data;
}

describe("a record that control cannot read", () => {
  it("TF4: is quarantined once, from attempts, dead letters and audiences, and what is behind it is read", async () => {
    const { names } = topics;
    for (const topic of [names.attempts, names.deadLetters, names.audiences]) {
      await send(topic, poison.rubbish);
      await send(topic, poison.neverKnown());
    }
    await writer.attempts([attemptAt(1)]);
    await writer.deadLetters([deadLetterAt(1)]);
    await eventually(async () => {
      const [attempts, deadLetters] = await Promise.all(
        ["deliveries", "dead-letters"].map((path) => control.call("GET", `/v1/${path}`)),
      );
      expect([attempts?.body.data.length, deadLetters?.body.data.length]).toEqual([1, 1]);
    });
    await eventually(async () => expect(await list()).toHaveLength(6));
    expect(await list(`?topic=${names.audiences}`)).toMatchObject([
      { topic: names.audiences, partition: 0, offset: 1, reason: "unknown_schema", by: "control", reproduced: false },
      { topic: names.audiences, partition: 0, offset: 0, reason: "not_framed", bytes: poison.rubbish.length },
    ]);
    // Another process reads the same topics from their start, and puts nothing aside that is there.
    await control.stop();
    control = await startTestControl(topics, { env: { ...SETTING, SCHEMA_REGISTRY_URL: poison.registryUrl } });
    await eventually(async () => expect((await control.call("GET", "/v1/deliveries")).body.complete).toBe(true));
    expect(await list("?reason=not_framed")).toHaveLength(3);
    const stored: string[] = [];
    await topics.follow<Buffer>(names.unreadable, (_, { headers }) =>
      stored.push(String(headers["unreadable-offset"])),
    );
    await eventually(() => expect(stored).toHaveLength(6));
  });

  it("TF4: holds up what is behind it for no longer than the setting, of however many schemas", async () => {
    const before = (await list()).length;
    const topic = topics.names.attempts;
    const unknown = 16;
    await topics.producer.send(
      Array.from({ length: unknown }, () => ({ topic, key: null, value: poison.neverKnown(), partition: 1 })),
    );
    await writer.attempts([attemptAt(8)], 1);
    // It would be 80 s where one is waited for after the other.
    await eventually(async () => {
      const { body } = await control.call("GET", "/v1/deliveries?messageId=message-8");
      expect(body.data).toHaveLength(1);
    });
    await eventually(async () => expect(await list()).toHaveLength(before + unknown));
  });

  it("AW2: is waited for where the registry knows its schema later", async () => {
    const before = (await list()).length;
    const batch: AttemptBatch = { attempts: [attemptAt(7)], deferrals: [] };
    const asked = poison.asked();
    await send(topics.names.attempts, await poison.knownLater("attempt-batch", batch));
    await eventually(() => expect(poison.asked()).toBeGreaterThan(asked + 1));
    poison.reveal();
    await eventually(async () => {
      const { body } = await control.call("GET", "/v1/deliveries?messageId=message-7");
      expect(body.data).toHaveLength(1);
    });
    expect(await list()).toHaveLength(before);
  });
});

describe("a user of an audience whose record's schema the registry does not know yet", () => {
  it("MF4: is in the membership as soon as it does", async () => {
    const { names } = topics;
    const sourceId = (await control.call("POST", "/v1/sources", { name: "shop", kind: "server" })).body.id;
    const { id } = (await control.call("POST", "/v1/audiences", { name: "late", sourceId })).body;
    const patch = (users: readonly string[]) => control.call("PATCH", `/v1/audiences/${id}/members`, { add: users });
    expect((await patch(["a"])).body).toMatchObject({ added: 1 });
    const revision = Date.now() * 1024;
    const record: MembershipRecord = {
      ...{ audienceId: id, kind: "audience", sourceId, trait: "late", revision, bornRevision: 0 },
      ...{ userId: "b", valueJson: "true", changedAtMs: Date.now() },
    };
    const late = await poison.knownLater("membership", record);
    const asked = poison.asked();
    await topics.producer.send([
      {
        ...{ topic: names.audiences, key: `${id}:b`, value: late },
        headers: { revision: String(revision) },
      },
    ]);
    await eventually(() => expect(poison.asked()).toBeGreaterThan(asked + 1));
    poison.reveal();
    await eventually(async () => expect((await patch(["b"])).body).toMatchObject({ added: 0, unchanged: 1 }));
  });
});

describe("unreadable records that can be read now", () => {
  it("UP1, UP2, UP3: go to their topics as they were, once; deliveries to the shortest retry topic", async () => {
    const { names, openCodec } = topics;
    const codec = await openCodec<Delivery>("delivery");
    const { body, restJson, event } = { body: Buffer.from("{}"), restJson: null, event: null };
    const delivery: Delivery = {
      ...{ messageId: "m-again", sourceId: "src_1", destinationId: "dst_1", type: "track", receivedAtMs: 1 },
      ...{ configOffset: 0, originIncarnation: 1, originPartition: 0, originOffset: 3, body, restJson, event },
    };
    const place = { "unreadable-partition": "0", "unreadable-reason": "unknown_schema", "unreadable-at-ms": "5" };
    const put = (topic: string, offset: number, value: Buffer) =>
      topics.producer.send([
        {
          topic: names.unreadable,
          key: "dst_1:user-7",
          value,
          headers: { note: "mine", ...place, "unreadable-topic": topic, "unreadable-offset": String(offset) },
        },
      ]);
    await put(names.deliveries, 50, codec.encode(delivery));
    await put(`${names.retryPrefix}10s`, 51, codec.encode(delivery));
    const came: unknown[] = [];
    for (const topic of [`${names.retryPrefix}300ms`, `${names.retryPrefix}10s`, names.deliveries]) {
      await topics.follow<Delivery>(topic, ({ messageId }, { key, headers }) =>
        came.push([
          topic,
          messageId,
          String(key),
          Object.entries(headers).map(([name, value]) => [name, String(value)]),
        ]),
      );
    }
    const filter = { places: [`${names.deliveries}/0/50`, `${names.retryPrefix}10s/0/51`] };
    const reproduce = async (input: object) => {
      const answer = await control.call("POST", "/v1/unreadable/reproduce", input);
      expect(answer.status).toBe(200);
      return answer.body;
    };
    expect(await reproduce({ ...filter, dryRun: true })).toEqual({
      matched: 2,
      reproduced: 0,
      refused: 0,
      refusedPlaces: [],
      nextCursor: null,
    });
    expect(await reproduce(filter)).toEqual({
      matched: 2,
      reproduced: 2,
      refused: 0,
      refusedPlaces: [],
      nextCursor: null,
    });
    const { data: reported } = (await control.call("GET", "/v1/audit?operation=reproduceUnreadable")).body;
    expect(reported).toMatchObject([
      { target: "unreadable", changes: expect.arrayContaining([{ field: "records", from: null, to: "2" }]) },
    ]);
    await eventually(() => expect(came).toHaveLength(2));
    expect(came.toSorted()).toEqual([
      [`${names.retryPrefix}10s`, "m-again", "dst_1:user-7", [["note", "mine"]]],
      [`${names.retryPrefix}300ms`, "m-again", "dst_1:user-7", [["note", "mine"]]],
    ]);
    expect(await reproduce(filter)).toEqual({
      matched: 0,
      reproduced: 0,
      refused: 0,
      refusedPlaces: [],
      nextCursor: null,
    });
    expect(await list(`?topic=${names.deliveries}`)).toEqual([]);
    expect(await list(`?topic=${names.deliveries}&reproduced=true`)).toMatchObject([{ reproduced: true, offset: 50 }]);
  });

  it("are refused by a reason that there is not", async () => {
    const { status, body } = await control.call("GET", "/v1/unreadable?reason=bored");
    expect([status, body.detail]).toEqual([400, expect.stringContaining("expected one of not_framed")]);
  });
});
