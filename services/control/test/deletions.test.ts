import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { Deletion } from "@posthaste/core/deletion/deletion";
import type { Event } from "@posthaste/core/event/event";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

let topics: TestTopics;
let control: TestControl;
const events: { readonly key: string; readonly event: Event }[] = [];

beforeAll(async () => {
  topics = await createTestTopics("control");
  control = await startTestControl(topics);
  await topics.follow<Event>(topics.names.events, (event, { key }) => events.push({ key: String(key), event }));
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

const createSource = async (name: string): Promise<string> =>
  (await control.call("POST", "/v1/sources", { name, kind: "web" })).body.id;

const createDestination = async (sourceIds: readonly string[], enabled = true): Promise<string> => {
  const settings = { urls: [{ url: "https://a.example/" }] };
  const input = { type: "Webhooks", name: "d", sourceIds, enabled, settings };
  return (await control.call("POST", "/v1/destinations", input)).body.id;
};

describe("a deletion request", () => {
  it("becomes one delete event for each source that has a destination enabled, and no other", async () => {
    const [first, second, disabledOnly, unconnected] = await Promise.all(
      ["first", "second", "disabled only", "unconnected"].map(createSource),
    );
    await createDestination([first ?? "", second ?? ""]);
    await createDestination([first ?? ""]);
    await createDestination([first ?? "", disabledOnly ?? ""], false);

    const { status, body } = await control.call("POST", "/v1/deletions", { userId: "user-7" });
    expect(status).toBe(202);
    // Two destinations of the first source and one of the second.
    expect(body).toEqual({ id: expect.stringMatching(/^del_/), notifications: 3 });

    const named = await control.call("POST", "/v1/deletions", {
      userId: "user-8",
      sourceIds: [second, second, disabledOnly, unconnected],
    });
    expect(named.body.notifications).toBe(1);

    await eventually(() => expect(events).toHaveLength(3));
    const seen = events.map(({ key, event }) => ({
      key,
      type: event.type,
      userId: event.userId,
      messageId: event.messageId,
    }));
    const expected = [
      { userId: "user-7", sourceId: first, id: body.id },
      { userId: "user-7", sourceId: second, id: body.id },
      { userId: "user-8", sourceId: second, id: named.body.id },
    ].map(({ userId, sourceId, id }) => ({
      key: `${sourceId}:${userId}`,
      type: "delete",
      userId,
      messageId: `${id}:${sourceId}`,
    }));
    const byMessage = (a: { messageId: string }, b: { messageId: string }) => (a.messageId < b.messageId ? -1 : 1);
    expect(seen.sort(byMessage)).toEqual(expected.sort(byMessage));
  });

  it("of a source without an enabled destination notifies nobody and is answered all the same", async () => {
    const lonely = await createSource("lonely");
    const { status, body } = await control.call("POST", "/v1/deletions", { userId: "u", sourceIds: [lonely] });
    expect([status, body.notifications]).toEqual([202, 0]);
  });

  it.each([
    [{}, /^userId: /],
    [{ userId: "" }, /^userId: a user id is needed$/],
    [{ userId: "u", sourceIds: [] }, /^sourceIds: name at least one source/],
    [{ userId: "u", sourceIds: ["src_none"] }, /^sourceIds\[0\]: there is no source src_none$/],
  ])("is refused as %j", async (input, detail) => {
    const { status, body } = await control.call("POST", "/v1/deletions", input);
    expect(status).toBe(400);
    expect(body.detail).toMatch(detail);
  });

  it("S5 of config-store.ts: is written again once over older writes that came late together", async () => {
    const { deletions } = topics.names;
    const records: IncomingRecord[] = [];
    const codec = await topics.openCodec<Deletion>("deletion");
    let newest: Buffer | null = null;
    const { id } = (await control.call("POST", "/v1/deletions", { userId: "user-9" })).body;
    await topics.follow<Deletion>(deletions, (value, record) => {
      if (record.key?.toString() !== id) return;
      records.push(record);
      if (value.state === "sent") newest = codec.encode(value);
    });
    await eventually(() => expect(newest).not.toBeNull());
    const before = records.length;
    const late = { topic: deletions, key: id, value: newest, headers: { [REVISION_HEADER]: "1" } };
    await topics.producer.send([late, late, late]);
    await eventually(() => expect(records.length).toBe(before + 4));
    // A further record would have arrived before a request that was made later leaves `requested`.
    const after = (await control.call("POST", "/v1/deletions", { userId: "user-10" })).body.id;
    await eventually(async () => {
      expect((await control.call("GET", `/v1/deletions/${after}`)).body.state).not.toBe("requested");
    });
    expect(records.length).toBe(before + 4);
    expect(records.at(-1)?.headers?.[REVISION_HEADER]?.toString()).not.toBe("1");
  });
});
