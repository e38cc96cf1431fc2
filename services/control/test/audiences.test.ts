import type { MembershipRecord } from "@posthaste/core/audience/membership";
import type { Event } from "@posthaste/core/event/event";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, readOpenApi, startTestControl, type TestControl } from "./control.ts";
import { bornRevisionOf, NDJSON, openUpload as openUploadTo, sendLines } from "./uploads.ts";

let topics: TestTopics;
let control: TestControl;
let sourceId: string;
const events: Event[] = [];

beforeAll(async () => {
  topics = await createTestTopics("audiences");
  control = await startTestControl(topics, { env: { POSTHASTE_AUDIENCE_RATE: "5000" } });
  await topics.follow<Event>(topics.names.events, (event) => events.push(event));
  sourceId = (await control.call("POST", "/v1/sources", { name: "shop", kind: "server" })).body.id;
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

const create = async (name: string): Promise<string> =>
  (await control.call("POST", "/v1/audiences", { name, sourceId })).body.id;
const ndjson = NDJSON;
const putLines = (path: string, values: readonly unknown[], on = control) => sendLines(on, path, values);

/** Every identify of a trait, in the order of each user. */
const reported = (trait: string): readonly Event[] =>
  events.filter(({ traitsJson }) => Object.hasOwn(JSON.parse(traitsJson ?? "{}"), trait));
const reportedValues = (trait: string): readonly string[] =>
  reported(trait)
    .map(({ userId, traitsJson }) => `${userId} ${traitsJson}`)
    .sort();

/** The value of each user's newest identify. */
function newest(trait: string): Readonly<Record<string, unknown>> {
  const sorted = [...reported(trait)].sort((a, b) => a.timestampMs - b.timestampMs);
  return Object.fromEntries(sorted.map(({ userId, traitsJson }) => [userId, JSON.parse(traitsJson ?? "{}")[trait]]));
}

const openUpload = (path: string) => openUploadTo(control, path);

const since = /^\w+ is being synced since \d{4}-\d\d-\d\dT[\d:.]+Z: try again when that has ended$/;

describe("an audience", () => {
  it("has the trait that is made of its name, which no other of its source may have", async () => {
    const { status, body } = await control.call("POST", "/v1/audiences", { name: "Élite Käufer (2026) 🎉", sourceId });
    expect([status, body.trait]).toEqual([201, "elite_kaufer_2026"]);
    expect(body.id).toMatch(/^aud_/);
    const again = await control.call("POST", "/v1/audiences", { name: "eliteKaufer 2026", sourceId });
    expect([again.status, again.body.detail]).toEqual([
      409,
      `"eliteKaufer 2026" would be the trait elite_kaufer_2026, which the audience "Élite Käufer (2026) 🎉" (${body.id}) of this source has`,
    ]);
    const other = (await control.call("POST", "/v1/sources", { name: "other", kind: "server" })).body.id;
    const elsewhere = await control.call("POST", "/v1/audiences", { name: "elite kaufer 2026", sourceId: other });
    expect(elsewhere.status).toBe(201);
    expect((await control.call("GET", "/v1/audiences")).body.data).toHaveLength(2);
  });

  it.each([
    [{ name: "🎉!" }, /^name: a name needs a letter or a digit/],
    [{ name: "" }, /^name: a name is needed/],
    [{ name: "x", sourceId: "src_none" }, /^sourceId: there is no source src_none$/],
  ])("is refused as %j", async (input, detail) => {
    const { status, body } = await control.call("POST", "/v1/audiences", { sourceId, ...input });
    expect(status).toBe(400);
    expect(body.detail).toMatch(detail);
  });

  it("tells each member at the first sync, and who came or went at those that follow", async () => {
    const id = await create("First members");
    const users = Array.from({ length: 1500 }, (_, index) => `user-${index}`);
    const first = await putLines(`/v1/audiences/${id}/members`, users);
    expect([first.status, first.body]).toEqual([200, { added: 1500, removed: 0, unchanged: 0 }]);
    await eventually(() => expect(reported("first_members")).toHaveLength(1500));
    const [event] = reported("first_members");
    expect(event).toMatchObject({ type: "identify", sourceId, traitsJson: '{"first_members":true}', integrations: {} });
    expect(JSON.parse(event?.contextJson ?? "")).toEqual({ posthaste: { kind: "audience", id } });

    const second = await putLines(`/v1/audiences/${id}/members`, [...users.slice(2), { userId: "new" }, 17, "new"]);
    expect(second.body).toEqual({ added: 2, removed: 2, unchanged: 1498 });
    const patched = await control.call("PATCH", `/v1/audiences/${id}/members`, {
      add: ["user-0", "user-5"],
      remove: ["new", "never there"],
    });
    expect(patched.body).toEqual({ added: 1, removed: 1, unchanged: 2 });
    await eventually(() => expect(reported("first_members")).toHaveLength(1506));
    const changes = reported("first_members").slice(1500);
    expect(changes.map(({ userId, traitsJson }) => `${userId} ${traitsJson}`).sort()).toEqual([
      ...['17 {"first_members":true}', 'new {"first_members":false}', 'new {"first_members":true}'],
      ...['user-0 {"first_members":false}', 'user-0 {"first_members":true}', 'user-1 {"first_members":false}'],
    ]);
    expect(newest("first_members")).toMatchObject({ "user-0": true, "user-1": false, new: false, "17": true });
    expect(new Set(reported("first_members").map(({ messageId }) => messageId)).size).toBe(1506);

    const { body } = await control.call("GET", `/v1/audiences/${id}`);
    expect(body).toMatchObject({ size: 1500, syncing: null, lastSync: { added: 1, removed: 1, unchanged: 2 } });
    await eventually(async () =>
      expect((await control.call("GET", `/v1/audiences/${id}`)).body.identifiesWaiting).toBe(0),
    );
    const member = async (userId: string) =>
      (await control.call("GET", `/v1/audiences/${id}/members/${encodeURIComponent(userId)}`)).body;
    expect(await member("user-0")).toEqual({ userId: "user-0", member: true, since: expect.any(String) });
    const last = reported("first_members")
      .filter(({ userId }) => userId === "user-0")
      .at(-1);
    expect(last?.timestampMs).toBe(Date.parse((await member("user-0")).since));
    expect(await member("user-1")).toEqual({ userId: "user-1", member: false, since: expect.any(String) });
    expect(await member("a:b/c")).toEqual({ userId: "a:b/c", member: false, since: null });
  });

  it("takes a JSON array as well, and empties by one alone", async () => {
    const id = await create("Array");
    const path = `/v1/audiences/${id}/members`;
    expect((await control.call("PUT", path, ["a", 2, { userId: "c" }])).body.added).toBe(3);
    const empty = await control.call("PUT", path, "", ndjson);
    expect([empty.status, empty.body.detail]).toEqual([400, expect.stringMatching(/send the JSON array \[\]$/)]);
    expect((await control.call("PUT", path, [])).body).toEqual({ added: 0, removed: 3, unchanged: 0 });
    await eventually(() => expect(newest("array")).toEqual({ a: false, "2": false, c: false }));
  });

  it("changes nobody by an upload that breaks off, nor by one with a line that says nothing", async () => {
    const id = await create("Broken");
    const path = `/v1/audiences/${id}/members`;
    await putLines(path, ["a", "b", "c"]);
    const broken = openUpload(path);
    broken.outgoing.write(`${Array.from({ length: 3000 }, (_, index) => `"new-${index}"`).join("\n")}\n`);
    await eventually(async () =>
      expect((await control.call("GET", `/v1/audiences/${id}`)).body.syncing?.received).toBeGreaterThan(0),
    );
    broken.outgoing.destroy();
    // The lease is free again at once, so that the next one need not wait for its end.
    await eventually(async () => expect((await control.call("GET", `/v1/audiences/${id}`)).body.syncing).toBeNull());
    const bad = await control.call("PUT", path, '"new-1"\n{"user": 1}\n', ndjson);
    expect([bad.status, bad.body.detail]).toEqual([400, expect.stringMatching(/^line 2: /)]);
    expect((await putLines(path, ["a", "b"])).body).toEqual({ added: 0, removed: 1, unchanged: 2 });
    await eventually(() => expect(reportedValues("broken")).toHaveLength(4));
    expect(newest("broken")).toEqual({ a: true, b: true, c: false });
  });

  it("answers an upload with its faulty line before it has ended, on a connection that stands", async () => {
    const id = await create("Early answer");
    const upload = openUpload(`/v1/audiences/${id}/members`);
    upload.outgoing.write("not JSON\n");
    expect(await upload.answered).toMatchObject({
      status: 400,
      text: expect.stringMatching(/line 1: this is not JSON/),
    });
    upload.outgoing.destroy();
  });

  it("is synced by one at a time: a second is told since when the first runs, in another process too", async () => {
    const id = await create("One at a time");
    const path = `/v1/audiences/${id}/members`;
    const another = await startTestControl(topics);
    try {
      const first = openUpload(path);
      first.outgoing.write('"a"\n');
      await eventually(async () =>
        expect((await another.call("GET", `/v1/audiences/${id}`)).body.syncing).toEqual(expect.anything()),
      );
      const refused = await Promise.all([
        putLines(path, ["b"]),
        putLines(path, ["c"], another),
        another.call("PATCH", path, { add: ["d"] }),
        another.call("DELETE", `/v1/audiences/${id}`),
      ]);
      expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409]);
      for (const { body } of refused) expect(body.detail).toMatch(since);
      first.outgoing.end();
      expect(await first.answered).toMatchObject({ status: 200, text: '{"added":1,"removed":0,"unchanged":0}' });

      // An upload that waits for the other one longer than five seconds gets 409 and changes nothing.
      const putAgain = async (users: readonly string[], on: TestControl): Promise<Answer> => {
        const answer = await putLines(path, users, on);
        return answer.status === 409 ? putAgain(users, on) : answer;
      };
      const both = await Promise.all([putAgain(["x", "a"], control), putAgain(["y", "a"], another)]);
      expect(both.map(({ status }) => status)).toEqual([200, 200]);
      // Each knows its own at once, and the other's when it has read it: they agree when both have.
      const last = await eventually(async () => {
        const lists = [control, another].map(async (each) => {
          const asked = ["x", "y"].map((userId) => each.call("GET", `${path}/${userId}`));
          return (await Promise.all(asked)).filter(({ body }) => body.member).map(({ body }) => body.userId);
        });
        const [here, there] = await Promise.all(lists);
        expect([here, here?.length]).toEqual([there, 1]);
        return here?.[0] as string;
      });
      await eventually(() => expect(newest("one_at_a_time")).toMatchObject({ a: true, [last]: true }));
      await eventually(() =>
        expect(Object.values(newest("one_at_a_time")).filter((value) => value === true)).toHaveLength(2),
      );
    } finally {
      await another.stop();
    }
  });

  it("is known to a process that starts with nothing, from the topic alone", async () => {
    const id = await create("Read anew");
    await putLines(`/v1/audiences/${id}/members`, ["a", "b"]);
    const another = await startTestControl(topics);
    try {
      const { body } = await putLines(`/v1/audiences/${id}/members`, ["b", "c"], another);
      expect(body).toEqual({ added: 1, removed: 1, unchanged: 1 });
    } finally {
      await another.stop();
    }
  });

  it("begins with nobody when it is made anew, and nobody is told of its end", async () => {
    const id = await create("Made anew");
    await putLines(`/v1/audiences/${id}/members`, ["a", "b"]);
    await eventually(() => expect(reportedValues("made_anew")).toHaveLength(2));
    expect((await control.call("DELETE", `/v1/audiences/${id}`)).status).toBe(204);
    expect((await control.call("GET", `/v1/audiences/${id}`)).status).toBe(404);
    expect(await create("made-anew")).toBe(id);
    expect((await control.call("GET", `/v1/audiences/${id}`)).body.size).toBe(0);
    expect((await putLines(`/v1/audiences/${id}/members`, ["b"])).body).toEqual({ added: 1, removed: 0, unchanged: 0 });
    await eventually(() => expect(reportedValues("made_anew")).toHaveLength(3));
    expect(newest("made_anew")).toEqual({ a: true, b: true });
  });

  it("is not synced while its source takes nothing", async () => {
    const off = (await control.call("POST", "/v1/sources", { name: "off", kind: "web", enabled: false })).body.id;
    const { id } = (await control.call("POST", "/v1/audiences", { name: "Off", sourceId: off })).body;
    const { status, body } = await putLines(`/v1/audiences/${id}/members`, ["a"]);
    expect([status, body.detail]).toEqual([409, expect.stringMatching(/is switched off/)]);
    const values = { sourceId: off, values: { a: 1 } };
    expect((await control.call("PUT", "/v1/computed-traits/refused", values)).status).toBe(409);
    const traits = (await control.call("GET", "/v1/computed-traits?limit=200")).body.data;
    expect(traits.map(({ name }: { name: string }) => name)).not.toContain("refused");
  });

  it("U3: says the last sync's word again when a record of one that was given up comes late", async () => {
    const id = await create("Late");
    await putLines(`/v1/audiences/${id}/members`, ["a"]);
    const codec = await topics.openCodec<MembershipRecord>("membership");
    const bornRevision = await bornRevisionOf(topics, id);
    // A process that was paused before the sync: its revision is older, its clock is not.
    const late = (userId: string, valueJson: string) => ({
      topic: topics.names.audiences,
      key: `${id}:${userId}`,
      value: codec.encode({
        ...{ audienceId: id, kind: "audience", sourceId, trait: "late", revision: bornRevision, bornRevision },
        ...{ userId, valueJson, changedAtMs: Date.now() + 60_000 },
      }),
    });
    await topics.producer.send([late("a", "false"), late("b", "true")]);
    await eventually(() => expect(newest("late")).toEqual({ a: true, b: false }));
    const size = async () => (await control.call("GET", `/v1/audiences/${id}`)).body.size;
    await eventually(async () => expect(await size()).toBe(1));
  });
});

describe("a computed trait", () => {
  const put = (name: string, values: Readonly<Record<string, unknown>>) =>
    control.call("PUT", `/v1/computed-traits/${encodeURIComponent(name)}`, { sourceId, values });

  it("tells values that changed, of any kind, and leaves out users as they are", async () => {
    const first = await put("Lifetime Value", { a: 12.5, b: { tier: ["gold", null] }, c: false });
    expect([first.status, first.body]).toEqual([200, { changed: 3, unchanged: 0 }]);
    expect((await put("Lifetime Value", { a: 12.5, b: { tier: ["gold", 1] } })).body).toEqual({
      changed: 1,
      unchanged: 1,
    });
    const lines = [
      { userId: "a", value: null },
      { userId: "d", value: "x" },
      { userId: "a", value: 13 },
    ];
    const path = `/v1/computed-traits/Lifetime%20Value?sourceId=${sourceId}`;
    expect((await putLines(path, lines)).body).toEqual({ changed: 2, unchanged: 0 });
    await eventually(() => expect(reported("lifetime_value")).toHaveLength(6));
    expect(newest("lifetime_value")).toEqual({ a: 13, b: { tier: ["gold", 1] }, c: false, d: "x" });
    const { data } = (await control.call("GET", "/v1/computed-traits")).body;
    expect(data).toMatchObject([{ name: "Lifetime Value", trait: "lifetime_value", size: 4 }]);
    expect((await control.call("DELETE", path)).status).toBe(204);
    expect((await control.call("GET", "/v1/computed-traits")).body.data).toEqual([]);
  });

  it.each([
    ["lines without a value", () => putLines(`/v1/computed-traits/x?sourceId=${sourceId}`, [{ userId: "a" }]), 400],
    ["lines without a source", () => putLines("/v1/computed-traits/x", [{ userId: "a", value: 1 }]), 400],
    ["a name without a letter", () => put("!!", { a: 1 }), 400],
    ["an unknown source", () => control.call("PUT", "/v1/computed-traits/x", { sourceId: "src_no", values: {} }), 400],
    ["the name of an audience", () => create("Both").then(() => put("both", { a: 1 })), 409],
    ["another name of one trait", () => put("Two Names", {}).then(() => put("two names", {})), 409],
  ])("refuses %s", async (_, ask, status) => {
    expect((await ask()).status).toBe(status);
  });
});

describe("an upload", () => {
  it("is described beside the JSON body, and refused by routes that take none", async () => {
    const { paths } = (await readOpenApi(control)).body;
    const content = paths["/v1/audiences/{id}/members"].put.requestBody.content;
    expect(Object.keys(content)).toEqual(["application/json", "application/x-ndjson"]);
    expect((await control.call("POST", "/v1/sources", '"x"', ndjson)).status).toBe(415);
  });
});
