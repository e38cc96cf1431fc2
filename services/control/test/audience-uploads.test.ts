/** The valid contents of an upload, and the state of its connection afterwards. */
import type { Event } from "@posthaste/core/event/event";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { NDJSON, sendLines } from "./uploads.ts";

let topics: TestTopics;
let control: TestControl;
let sourceId: string;

beforeAll(async () => {
  topics = await createTestTopics("uploads");
  // A busy machine may not renew a lease of seconds within half a minute of upload. The contents matter here.
  control = await startTestControl(topics, {
    // At the default rate some tens of thousands of users take a quarter of a minute.
    env: { POSTHASTE_AUDIENCE_LEASE: "10m", POSTHASTE_AUDIENCE_SYNC_RATE: "1000000" },
  });
  sourceId = (await control.call("POST", "/v1/sources", { name: "shop", kind: "server" })).body.id;
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

/** Path of the members of a new audience. */
async function createMembers(name: string): Promise<string> {
  const { body } = await control.call("POST", "/v1/audiences", { name, sourceId });
  return `/v1/audiences/${body.id}/members`;
}
const put = (path: string, values: readonly unknown[]) => sendLines(control, path, values);

describe("an upload of an audience", () => {
  it("that holds blank lines alone is refused, as an empty one is", async () => {
    const path = await createMembers("Blank");
    await put(path, ["a", "b"]);
    const blank = await control.call("PUT", path, "\n \n", NDJSON);
    expect([blank.status, blank.body.detail]).toEqual([400, expect.stringMatching(/^the upload is empty/)]);
    expect((await put(path, ["a", "b"])).body.unchanged).toBe(2);
  });

  it("may name users by any text, each of whom is told as it is written", async () => {
    const events: Event[] = [];
    await topics.follow<Event>(topics.names.events, (event) => {
      if (event.traitsJson?.includes('"odd"')) events.push(event);
    });
    const path = await createMembers("Odd");
    const odd = ["a\u0000b", "a", "😀", "e\u0301", "é", "  ", "x".repeat(8192), 0, "\n", "a:b", '"', "null"];
    const texts = odd.map(String).sort();
    expect((await put(path, odd)).body).toEqual({ added: odd.length, removed: 0, unchanged: 0 });
    expect((await put(path, [...odd, ...odd])).body).toEqual({ added: 0, removed: 0, unchanged: odd.length });
    await eventually(() => expect(events.map(({ userId }) => userId).sort()).toEqual(texts));
    for (const userId of texts) {
      const { body } = await control.call("GET", `${path}/${encodeURIComponent(userId)}`);
      expect(body).toMatchObject({ userId, member: true });
    }
    expect((await put(path, ["a"])).body).toEqual({ added: 0, removed: odd.length - 1, unchanged: 1 });
  });

  it("that names one user by what is no user id changes nobody, and its connection takes the next one", async () => {
    const path = await createMembers("Nobody");
    await put(path, ["a"]);
    for (const bad of ["x".repeat(1_000_000), "x".repeat(8193), "", "\ud800x", 1.5, 1e21, true, null, [], {}]) {
      const { status, body } = await put(path, ["b", bad]);
      expect([status, body.detail]).toEqual([400, expect.stringMatching(/^line 2: /)]);
    }
    expect((await put(path, ["a"])).body).toEqual({ added: 0, removed: 0, unchanged: 1 });
  });

  it("that is more than may come is refused with what may", async () => {
    const path = await createMembers("Too many");
    const many = Array.from({ length: 10_001 }, (_, index) => `user-${index}`);
    const long = Array.from({ length: 6000 }, (_, index) => `${index}`.padEnd(800, "x"));
    const text = { "content-type": "text/plain" };
    const values = (said: object) => control.call("PUT", "/v1/computed-traits/many", { sourceId, values: said });
    const refused = [
      await control.call("PUT", path, long),
      await values(Object.fromEntries(long.map((userId) => [userId, 1]))),
      await control.call("PATCH", path, { add: long }),
      await control.call("PATCH", path, { add: many }),
      await control.call("PUT", path, '"a"\n'.repeat(4000), text),
      await values({ "": 1 }),
      await values({ ["x".repeat(8193)]: 1 }),
    ];
    // Control drains a body that it refuses unread: closing the connection meanwhile may lose the answer.
    expect(refused.map(({ headers }) => headers.get("connection"))).not.toContain("close");
    const reported = refused.map(({ status, body: { detail } }) => `${status} ${detail}`.replace(/x{100,}/, "x…"));
    const lines = "send it as lines (application/x-ndjson), of which any number may come";
    expect(reported).toEqual([
      `413 a body has at most 4194304 bytes here: ${lines}`,
      `413 a body has at most 1048576 bytes here: ${lines}`,
      "413 a body has at most 1048576 bytes here",
      "400 add: at most 10000 users at a time: divide them, or say the whole membership",
      "415 send application/json, or lines as application/x-ndjson",
      "400 values.: a user id is needed",
      "400 values.x…: a user id has at most 8192 characters",
    ]);
    expect((await put(path, ["a"])).body.added).toBe(1);
  });

  it("that is an array of some megabytes is taken", async () => {
    const path = await createMembers("Array");
    const users = Array.from({ length: 40_000 }, (_, index) => `${index % 1000}`.padEnd(90, "x"));
    const { status, body } = await control.call("PUT", path, users);
    expect([status, body]).toEqual([200, { added: 1000, removed: 0, unchanged: 0 }]);
  });
});

describe("an upload of a computed trait", () => {
  it("may have the longest values, also where every one of them is another than before", async () => {
    const users = Array.from({ length: 200 }, (_, index) => `user-${index}`);
    const of = (deadLetter: string) => users.map((userId) => ({ userId, value: deadLetter.repeat(16_000) }));
    const path = `/v1/computed-traits/long?sourceId=${sourceId}`;
    for (const deadLetter of ["ф", "ы"]) {
      const { status, body } = await put(path, of(deadLetter));
      expect([status, body]).toEqual([200, { changed: 200, unchanged: 0 }]);
    }
  });

  it("tells nobody of a value whose keys come in another order", async () => {
    const send = (value: unknown) =>
      control.call("PUT", "/v1/computed-traits/order", { sourceId, values: { a: value } });
    await send({ x: 1, y: [{ p: 1, q: 2 }] });
    expect((await send({ y: [{ q: 2, p: 1 }], x: 1 })).body).toEqual({ changed: 0, unchanged: 1 });
    expect((await send({ y: [{ q: 1, p: 2 }], x: 1 })).body).toEqual({ changed: 1, unchanged: 0 });
  });
});
