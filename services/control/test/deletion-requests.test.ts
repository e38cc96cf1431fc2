/** Rule: X2 of deletion-store.ts. */
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { Deletion } from "@posthaste/core/deletion/deletion";
import type { Suppression } from "@posthaste/core/deletion/suppression";
import type { Event } from "@posthaste/core/event/event";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { attemptAt, createLogWriter, deadLetterAt, type LogWriter, momentOf } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

let topics: TestTopics;
let control: TestControl;
/** Begins when there are requests that a process left. */
let second: TestControl;
let writer: LogWriter;
let sourceId: string;
let destinationIds: readonly [string, string];
const events: Event[] = [];
const suppressions: Suppression[] = [];
const records: Deletion[] = [];

beforeAll(async () => {
  topics = await createTestTopics("control");
  control = await startTestControl(topics);
  writer = await createLogWriter(topics);
  await topics.follow<Event>(topics.names.events, (event) => events.push(event));
  await topics.follow<Suppression>(topics.names.suppressions, (suppression) => suppressions.push(suppression));
  await topics.follow<Deletion>(topics.names.deletions, (deletion) => records.push(deletion));
  sourceId = (await control.call("POST", "/v1/sources", { name: "s", kind: "web" })).body.id;
  const create = async (): Promise<string> => {
    const settings = { urls: [{ url: "https://a.example/" }] };
    const input = { type: "Webhooks", name: "d", sourceIds: [sourceId], enabled: true, settings };
    return (await control.call("POST", "/v1/destinations", input)).body.id;
  };
  const [one, other] = [await create(), await create()];
  destinationIds = one < other ? [one, other] : [other, one];
  await leave("left");
  await leave("contested", { ...CONTESTED, content: "of the first", userIds: ["first"] }, 1);
  await leave("contested", { ...CONTESTED, content: "of the second", userIds: ["second"] }, 2);
  await leave("left-last", { createdAtMs: 1_700_000_000_002, suppress: false, userIds: ["last"] });
  second = await startTestControl(topics);
});

afterAll(async () => {
  await Promise.all([control.stop(), second.stop()]);
  await topics.remove();
});

const CONTESTED = { createdAtMs: 1_700_000_000_001, suppress: false } as const;

/** Writes the record of a process that put the request on record and did no more. */
async function leave(id: string, differing: Partial<Deletion> = {}, revision = 5): Promise<void> {
  const codec = await topics.openCodec<Deletion>("deletion");
  const value = codec.encode({
    ...{ id, state: "requested", createdAtMs: 1_700_000_000_000, sentAtMs: null, content: "as it was" },
    ...{ suppress: true, suppressionEndsAtMs: null, userIds: ["left-1", "left-2"], sourceIds: [sourceId] },
    receivers: [{ sourceId, destinationIds: [...destinationIds] }],
    ...differing,
  });
  const headers = { [REVISION_HEADER]: String(revision) };
  await topics.producer.send([{ topic: topics.names.deletions, key: id, value, headers }]);
}

const usersOf = (deletionId: string) =>
  events.filter(({ messageId }) => messageId.startsWith(`${deletionId}:`)).map(({ userId }) => userId);

/** Every event that stands in its topic was read, in whichever partition. */
async function allAreRead(): Promise<void> {
  const offsets = await topicOffsets(topics.connection, topics.names.events);
  await eventually(() => expect(events).toHaveLength(offsets.reduce((sum, { end }) => sum + end, 0)));
}

describe("a deletion request that a process left when it was killed", () => {
  it("is carried out by the next, from its start, with the message ids and the time that it had", async () => {
    await eventually(async () =>
      expect((await second.call("GET", "/v1/deletions/left")).body).toMatchObject({ state: "sent", notifications: 4 }),
    );
    await eventually(() => expect(usersOf("left").sort()).toEqual(["left-1", "left-2"]));
    const [event] = events.filter(({ userId }) => userId === "left-2");
    expect(event).toMatchObject({ messageId: `left:${sourceId}:1`, type: "delete", timestampMs: 1_700_000_000_000 });
    const suppressed = () => suppressions.filter(({ deletionId }) => deletionId === "left");
    await eventually(() => expect(suppressed().map(({ userId }) => userId)).toEqual(["left-1", "left-2"]));
    const states = () => records.filter(({ id }) => id === "left").map(({ state }) => state);
    await eventually(() => expect(states()).toEqual(["requested", "sent"]));
    expect(second.logged()).toContain("deletion_resumed");
  });
});

describe("a request that was written over another's and is to be put back", () => {
  it("X2: is carried out by nobody who comes by, nor for who asks for it again", async () => {
    // A process that finds unfinished requests carries them out one after the other.
    await eventually(async () => expect((await second.call("GET", "/v1/deletions/left-last")).body.state).toBe("sent"));
    await allAreRead();
    expect(usersOf("contested")).toEqual([]);
    const asked = await second.call("POST", "/v1/deletions", { id: "contested", userIds: ["second"] });
    expect([asked.status, asked.headers.get("retry-after")]).toEqual([503, expect.any(String)]);
    await leave("contested", { ...CONTESTED, content: "of the first", userIds: ["first"] }, 3);
    const next = await startTestControl(topics);
    await eventually(() => expect(new Set(usersOf("contested"))).toEqual(new Set(["first"])));
    await next.stop();
  });
});

describe("a deletion request with an id of the caller's", () => {
  it("is carried out once, however often it is asked for, and answered alike", async () => {
    const input = { id: "ticket-1", userIds: ["a", "b", "a"] };
    const answers = await Promise.all([1, 2, 3].map(() => control.call("POST", "/v1/deletions", input)));
    answers.push(await control.call("POST", "/v1/deletions", { ...input, userIds: ["a", "b"] }));
    for (const { status, body } of answers) expect([status, body]).toEqual([202, { id: "ticket-1", notifications: 4 }]);
    await control.call("POST", "/v1/deletions", { id: "behind-it", userId: "z" });
    await allAreRead();
    expect(usersOf("behind-it")).toEqual(["z"]);
    expect(usersOf("ticket-1").sort()).toEqual(["a", "b"]);
    expect(new Set(events.map(({ messageId }) => messageId)).size).toBe(events.length);
  });

  it.each([
    ["other users", { userIds: ["a", "c"] }],
    ["another source", { userIds: ["a", "b"], sourceIds: [] as string[] }],
    ["a suppression", { userIds: ["a", "b"], suppress: true }],
  ])("that asks for %s is refused", async (_, other) => {
    const input = { ...other, ...("sourceIds" in other ? { sourceIds: [sourceId] } : {}), id: "ticket-1" };
    const { status, body } = await control.call("POST", "/v1/deletions", input);
    expect(status).toBe(409);
    expect(body.detail).toBe("the id ticket-1 is that of another deletion request: take another id for this one");
  });

  it.each(["", "a:b", "ü", "x".repeat(65)])("is refused as %j", async (id) => {
    const { status, body } = await control.call("POST", "/v1/deletions", { id, userId: "u" });
    expect([status, body.detail]).toEqual([400, expect.stringMatching(/^id: expected 1 to 64 letters/)]);
  });
});

describe("one id that two processes of control take at once for different users", () => {
  it("X2: is that of one of the two requests, and the other is refused", async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = `both-${round}`;
      const asked = [control, second].map((each, index) =>
        each.call("POST", "/v1/deletions", { id, userIds: [`of-${index}`] }),
      );
      const answers = await Promise.all(asked);
      expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
      const winner = answers.findIndex(({ status }) => status === 202);
      await eventually(async () => {
        const { body } = await second.call("GET", `/v1/deletions/${id}/notifications`);
        expect(body.data.map(({ userId }: { userId: string }) => userId)).toEqual([`of-${winner}`, `of-${winner}`]);
      });
      await eventually(() => expect(new Set(usersOf(id))).toEqual(new Set([`of-${winner}`])));
    }
  });
});

describe("the users of a deletion request", () => {
  it("may be thousands, each of whom becomes one event", async () => {
    const userIds = Array.from({ length: 2500 }, (_, index) => `user-${index}-4f1c2e3d-aaaa-bbbb-cccc`);
    const { status, body } = await control.call("POST", "/v1/deletions", { id: "many", userIds });
    expect([status, body.notifications]).toEqual([202, 5000]);
    await eventually(() => expect(usersOf("many")).toHaveLength(2500));
    expect(new Set(usersOf("many"))).toEqual(new Set(userIds));
    expect(new Set(events.map(({ messageId }) => messageId)).size).toBe(events.length);
  });

  it.each([
    [{ userIds: [] }, /^userIds: name at least one user$/],
    [{ userIds: Array(5001).fill("u") }, /^userIds: name at most 5000 users in one request$/],
    [{ userId: "u", userIds: ["v"] }, /^userId: expected either userId or userIds$/],
    [{ userIds: ["u", "x".repeat(8193)] }, /^userIds\[1\]: a user id is too long: 8,192 characters at the most$/],
    [
      { userIds: Array.from({ length: 110 }, (_, index) => `${index}${"x".repeat(8000)}`) },
      /^userIds: the user ids take 880\d\d\d bytes: 800000 at the most in one request$/,
    ],
  ])("are refused beyond the limits (%#)", async (input, detail) => {
    const { status, body } = await control.call("POST", "/v1/deletions", input);
    expect([status, body.detail]).toEqual([400, expect.stringMatching(detail)]);
  });

  it("are those of the sources that are enabled, unless sources are named", async () => {
    const { id } = (await control.call("POST", "/v1/sources", { name: "off", kind: "web" })).body;
    await control.call("PATCH", `/v1/sources/${id}`, { enabled: false });
    await control.call("POST", "/v1/deletions", { id: "all", userId: "u" });
    expect((await control.call("GET", "/v1/deletions/all")).body.sourceIds).toEqual([sourceId]);
    await control.call("POST", "/v1/deletions", { id: "named", userId: "u", sourceIds: [id] });
    expect((await control.call("GET", "/v1/deletions/named")).body.sourceIds).toEqual([id]);
  });
});

describe("the state of a deletion request", () => {
  it("says of each notification what became of it, and counts them", async () => {
    const { body } = await control.call("POST", "/v1/deletions", { id: "seen", userIds: ["p", "q"] });
    expect(body.notifications).toBe(4);
    const of = (index: number) => (index === 0 ? `seen:${sourceId}` : `seen:${sourceId}:${index}`);
    const [one, other] = destinationIds;
    const common = { sourceId, type: "delete" as const };
    await writer.attempts([
      attemptAt(1, { ...common, messageId: of(0), destinationId: one, outcome: "retryable" }),
      attemptAt(2, { ...common, messageId: of(0), destinationId: one, attempt: 2 }),
      attemptAt(3, { ...common, messageId: of(0), destinationId: other, outcome: "retryable" }),
      attemptAt(4, { ...common, messageId: of(1), destinationId: one, outcome: "permanent" }),
    ]);
    await writer.deadLetters([
      deadLetterAt(5, { ...common, messageId: of(1), destinationId: one, reason: "rejected_by_receiver" }),
    ]);
    const nothing = { attempts: 0, firstAttemptAt: null, lastAttemptAt: null, deliveredAt: null, deadAt: null };
    const expected = [
      {
        ...{ ...nothing, userId: "p", sourceId, destinationId: one, messageId: of(0), state: "delivered", attempts: 2 },
        ...{ firstAttemptAt: momentOf(1), lastAttemptAt: momentOf(2), deliveredAt: momentOf(2) },
      },
      {
        ...{ ...nothing, userId: "p", sourceId, destinationId: other, messageId: of(0), state: "retrying" },
        ...{ attempts: 1, firstAttemptAt: momentOf(3), lastAttemptAt: momentOf(3) },
      },
      {
        ...{ ...nothing, userId: "q", sourceId, destinationId: one, messageId: of(1), state: "dead", attempts: 1 },
        ...{ firstAttemptAt: momentOf(4), lastAttemptAt: momentOf(4), deadAt: momentOf(5) },
      },
      { ...nothing, userId: "q", sourceId, destinationId: other, messageId: of(1), state: "sent" },
    ];
    await eventually(async () => {
      const page = await control.call("GET", "/v1/deletions/seen/notifications");
      expect(page.body).toMatchObject({ data: expected, nextCursor: null, complete: true });
    });
    const status = await control.call("GET", "/v1/deletions/seen");
    expect(status.body).toMatchObject({
      ...{ id: "seen", state: "sent", users: 2, sourceIds: [sourceId], notifications: 4, suppress: false },
      ...{ suppressionEndsAt: null, createdAt: expect.any(String), sentAt: expect.any(String) },
      ...{ states: { sent: 1, retrying: 1, delivered: 1, dead: 1 }, complete: true, asOf: expect.any(String) },
    });
    const pages: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const path: string = `/v1/deletions/seen/notifications?limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const page = (await control.call("GET", path)).body;
      pages.push(...page.data);
      cursor = page.nextCursor;
    }
    expect(pages).toEqual(expected);
  });

  it("is in the list of all, newest first, in pages", async () => {
    const ids: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const path: string = `/v1/deletions?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const page = (await control.call("GET", path)).body;
      ids.push(...page.data.map(({ id }: { id: string }) => id));
      cursor = page.nextCursor;
    }
    // The requests of killed processes were created long before.
    expect(ids.slice(-6)).toEqual(["both-0", "behind-it", "ticket-1", "left-last", "contested", "left"]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("of no such request is not found, and a cursor of something else is refused", async () => {
    expect((await control.call("GET", "/v1/deletions/none")).status).toBe(404);
    expect((await control.call("GET", "/v1/deletions/none/notifications")).status).toBe(404);
    expect((await control.call("GET", "/v1/deletions/seen/notifications?cursor=x")).status).toBe(400);
  });
});
