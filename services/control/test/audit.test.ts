/** The audit, over two control processes. */

import { AuditLog } from "@posthaste/configuration/audit-log";
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { SourceRecord } from "@posthaste/contracts/source-codec";
import type { AuditEntry } from "@posthaste/core/access/audit-entry";
import { createLogWriter, deadLetterAt } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { topicTexts } from "@posthaste/testbed/topic-texts";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, startTestControl, type TestControl } from "./control.ts";

let topics: TestTopics;
let one: TestControl;
let two: TestControl;

beforeAll(async () => {
  topics = await createTestTopics("control");
  [one, two] = await Promise.all([startTestControl(topics), startTestControl(topics)]);
});

afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await topics.remove();
});

/** The audit entries at control `two` about requests to `one`. */
async function entriesOf(query: string): Promise<readonly AuditEntry[]> {
  const { status, body } = await two.call("GET", `/v1/audit?${query}`);
  expect(status).toBe(200);
  return body.data;
}

const newest = async (query: string) => (await entriesOf(query))[0];
const requestOf = ({ headers }: Answer) => headers.get("x-request-id");
const SETTINGS = { urls: [{ url: "http://127.0.0.1:1/hook", headers: { "X-Key": "header-value-s3cret" } }] };

it("the audit of a new installation has no entries", async () => {
  const { status, body } = await two.call("GET", "/v1/audit?limit=20");
  expect([status, body.data, body.complete]).toEqual([200, [], true]);
});

describe("a change", () => {
  it("is told at another process as soon as it is answered: by whom, how, of what, from what to what", async () => {
    const { body: made } = await one.call("POST", "/v1/sources", { name: "Web", kind: "web" });
    const changed = await one.call(
      "PATCH",
      `/v1/sources/${made.id}`,
      { name: "Shop" },
      { "user-agent": "posthaste-cli/1" },
    );
    expect((await entriesOf(`target=${made.id}`)).map(({ operation }) => operation)).toEqual([
      "changeSource",
      "createSource",
    ]);
    const { body } = await two.call("GET", `/v1/audit?target=${made.id}&limit=1`);
    expect(body).toMatchObject({ complete: true, asOf: expect.any(String), searchedTo: null });
    expect(body.data).toEqual([
      {
        id: expect.any(Number),
        time: expect.any(String),
        actor: "admin",
        tokenId: null,
        way: "cli",
        operation: "changeSource",
        target: made.id,
        changes: [{ field: "name", from: "Web", to: "Shop" }],
        requestId: requestOf(changed),
      },
    ]);
    await one.call("DELETE", `/v1/sources/${made.id}`);
    expect(await newest(`target=${made.id}`)).toMatchObject({
      operation: "removeSource",
      changes: expect.arrayContaining([{ field: "name", from: "Shop", to: null }]),
    });
  });

  it("names the token by which it was made, and its id finds it too", async () => {
    const { body: token } = await one.call("POST", "/v1/tokens", { name: "dana", scopes: ["write"] });
    const authorization = `Bearer ${token.token}`;
    const made = await one.call("POST", "/v1/sources", { name: "Hers", kind: "web" }, { authorization });
    const [byId, byName] = [await newest(`actor=${token.id}`), await newest("actor=dana&operation=createSource")];
    expect(byId).toMatchObject({ actor: "dana", tokenId: token.id, target: made.body.id, way: "api" });
    expect(byName).toEqual(byId);
  });

  it("that is refused leaves nothing", async () => {
    const refused = await one.call("PATCH", "/v1/sources/src_none", { name: "x" });
    const bad = await one.call("POST", "/v1/sources", { name: 1 });
    expect([refused.status, bad.status]).toEqual([404, 400]);
    const reported = (await entriesOf("limit=200")).map(({ requestId }) => requestId);
    expect(reported).not.toContain(requestOf(refused));
    expect(reported).not.toContain(requestOf(bad));
  });
});

it("every operation that changes something is told of, and none of them with a secret or a user's id", async () => {
  const source = (await one.call("POST", "/v1/sources", { name: "Web", kind: "web" })).body;
  const asked: [operation: string, answer: Answer][] = [];
  const ask = async (operation: string, method: string, path: string, body?: unknown) => {
    const answer = await one.call(method, path, body);
    expect([operation, answer.status < 300, answer.text.slice(0, 200)]).toEqual([operation, true, expect.anything()]);
    asked.push([operation, answer]);
    return answer.body;
  };
  const secrets = ["header-value-s3cret", source.writeKey];
  const secret = (name: string): string => {
    secrets.push(`${name}-0123456789-0123456789`);
    return `${name}-0123456789-0123456789`;
  };

  const key = await ask("rotateWriteKey", "POST", `/v1/sources/${source.id}/write-key`, {});
  secrets.push(key.writeKey);
  const input = { type: "Webhooks", name: "CRM", sourceIds: [source.id], settings: SETTINGS };
  const { id } = await ask("createDestination", "POST", "/v1/destinations", input);
  await ask("changeDestination", "PATCH", `/v1/destinations/${id}`, { settings: { sharedSecret: secret("active") } });
  await ask("nameNextSecret", "POST", `/v1/destinations/${id}/secret/next`, { sharedSecret: secret("next") });
  await ask("switchSecret", "POST", `/v1/destinations/${id}/secret/switch`);
  await ask("undoRotation", "POST", `/v1/destinations/${id}/secret/undo`);
  await ask("switchSecret", "POST", `/v1/destinations/${id}/secret/switch`);
  await ask("retireSecret", "POST", `/v1/destinations/${id}/secret/retire`);

  await ask("createDeletion", "POST", "/v1/deletions", { userId: "user-s3cret", suppress: true });
  await ask("endSuppressions", "DELETE", "/v1/suppressions?userId=user-s3cret");
  secrets.push("user-s3cret");

  const audience = (await ask("createAudience", "POST", "/v1/audiences", { name: "VIP", sourceId: source.id })).id;
  await ask("setAudienceMembers", "PUT", `/v1/audiences/${audience}/members`, ["user-s3cret"]);
  await ask("changeAudienceMembers", "PATCH", `/v1/audiences/${audience}/members`, { remove: ["user-s3cret"] });
  await ask("removeAudience", "DELETE", `/v1/audiences/${audience}`);
  const values = { sourceId: source.id, values: { "user-s3cret": 1 } };
  await ask("setComputedTrait", "PUT", "/v1/computed-traits/ltv", values);
  await ask("removeComputedTrait", "DELETE", `/v1/computed-traits/ltv?sourceId=${source.id}`);

  const writer = await createLogWriter(topics);
  await writer.deadLetters([deadLetterAt(1, { destinationId: id }), deadLetterAt(2, { destinationId: id })]);
  const slow = { destinationId: id, ratePerSecond: 0.001 };
  const replay = await eventually(async () => {
    const { body } = await one.call("POST", "/v1/replays", { ...slow, dryRun: true });
    expect(body.plan).toMatch(/^rpl_/);
    return body.plan;
  });
  await ask("replayDeadLetters", "POST", "/v1/replays", { plan: replay });
  await ask("pauseReplay", "POST", `/v1/replays/${replay}/pause`);
  await ask("resumeReplay", "POST", `/v1/replays/${replay}/resume`);
  await ask("cancelReplay", "POST", `/v1/replays/${replay}/cancel`);
  const { plan } = (await one.call("POST", "/v1/dead-letters/purge", { destinationId: id, dryRun: true })).body;
  await ask("purgeDeadLetters", "POST", "/v1/dead-letters/purge", { plan });

  const token = await ask("createToken", "POST", "/v1/tokens", { name: "ci", scopes: ["read"] });
  secrets.push(token.token);
  await ask("revokeToken", "DELETE", `/v1/tokens/${token.id}`);
  await ask("removeDestination", "DELETE", `/v1/destinations/${id}`);
  await ask("removeSource", "DELETE", `/v1/sources/${source.id}`);

  const { text, body } = await two.call("GET", "/v1/audit?limit=200");
  for (const [operation, answer] of asked) {
    expect(body.data).toContainEqual(expect.objectContaining({ operation, requestId: requestOf(answer) }));
  }
  expect((await newest("target=user-s3cret"))?.operation).toBe("endSuppressions");
  const kept = (await topicTexts(topics, topics.names.audit)).join("\n");
  expect(kept).toContain("removeSource");
  for (const each of secrets) {
    expect([each, text.includes(each)]).toEqual([each, false]);
    expect([each, kept.includes(each)]).toEqual([each, false]);
  }
});

describe("a record that somebody wrote straight into the configuration", () => {
  /** Writes a topic's record of the key again, changed by `change`, without control. */
  async function writeByHand<T extends { readonly revision: number; readonly updatedAtMs: number }>(
    topic: string,
    key: string,
    change: (record: T) => T,
  ): Promise<T> {
    const codec = await topics.openCodec<T>(topic === topics.names.sourceConfig ? "source" : "destination");
    let held: T | null = null;
    await topics.followTable<T>(topic, (id, record) => {
      if (id === key) held = record;
    });
    return await eventually(async () => {
      if (held === null) throw new Error(`${key} was not read`);
      const written = change(held);
      const headers = { [REVISION_HEADER]: String(written.revision) };
      await topics.producer.send([{ topic, key, value: codec.encode(written), headers }]);
      return written;
    });
  }

  it("is told as changed by unknown, among the changes that were asked for", async () => {
    const source = (await one.call("POST", "/v1/sources", { name: "Web", kind: "web" })).body;
    const input = { type: "Webhooks", name: "CRM", sourceIds: [source.id], enabled: true, settings: SETTINGS };
    const { id } = (await one.call("POST", "/v1/destinations", input)).body;
    // As long ago as an entry of it would have come since.
    const atMs = Date.now() - 60_000;
    const written = await writeByHand<DestinationRecord>(topics.names.destinationConfig, id, (record) => ({
      ...{ ...record, enabled: false, revision: record.revision + 1024, updatedAtMs: atMs },
    }));
    const changes = [
      { field: "revision", from: String(written.revision - 1024), to: String(written.revision) },
      { field: "enabled", from: "true", to: "false" },
    ];
    const byHand = {
      ...{ id: null, time: new Date(atMs).toISOString(), actor: "unknown", tokenId: null, way: "unknown" },
      ...{ operation: "change", target: id, changes, requestId: null },
    };
    await eventually(async () => {
      const { body } = await two.call("GET", `/v1/audit?target=${id}`);
      expect(body.data).toMatchObject([{ actor: "admin", operation: "createDestination" }, byHand]);
    });
    // One a page.
    const { body: page } = await two.call("GET", `/v1/audit?target=${id}&limit=1`);
    const rest = await two.call("GET", `/v1/audit?target=${id}&limit=1&cursor=${page.nextCursor}`);
    expect([page.data.length, rest.body.data, rest.body.nextCursor]).toEqual([1, [byHand], null]);
    expect(await entriesOf(`target=${id}&actor=unknown`)).toEqual([byHand]);
    expect(await entriesOf(`target=${id}&operation=createDestination`)).toHaveLength(1);
    // The entry also shows without its id in the query, in its place among the entries of others.
    expect(await entriesOf("actor=unknown")).toEqual([byHand]);
    const whole = await entriesOf("limit=200");
    expect(whole.filter(({ actor }) => actor === "unknown")).toEqual([byHand]);
    const times = whole.map((each) => (each as unknown as typeof byHand).time);
    expect(times.indexOf(byHand.time)).toBeGreaterThan(0);
    expect(times.slice(times.indexOf(byHand.time)).every((time) => time <= byHand.time)).toBe(true);
  });

  it("is told of a source by its newest revision", async () => {
    const { id } = (await one.call("POST", "/v1/sources", { name: "Web", kind: "web" })).body;
    const atMs = Date.now() - 60_000;
    await writeByHand<SourceRecord>(topics.names.sourceConfig, id, (record) => ({
      ...{ ...record, revision: record.revision + 1024, updatedAtMs: atMs },
    }));
    await eventually(async () => {
      const { body } = await two.call("GET", `/v1/audit?target=${id}`);
      expect(body.data).toMatchObject([{ operation: "createSource" }, { actor: "unknown", operation: "change" }]);
    });
  });
});

describe("the list", () => {
  it("is newest first, in pages, by actor, target, operation and time", async () => {
    const { body: made } = await one.call("POST", "/v1/sources", { name: "0", kind: "web" });
    for (let n = 1; n <= 4; n += 1) await one.call("PATCH", `/v1/sources/${made.id}`, { name: String(n) });
    const names: unknown[] = [];
    let cursor: string | null = "";
    do {
      const { body } = await two.call(
        "GET",
        `/v1/audit?target=${made.id}&limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`,
      );
      names.push(body.data.map(({ changes }: AuditEntry) => changes.find(({ field }) => field === "name")?.to));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(names).toEqual([["4", "3"], ["2", "1"], ["0"]]);
    const [last] = (await two.call("GET", `/v1/audit?target=${made.id}&limit=1`)).body.data;
    expect((await entriesOf(`target=${made.id}&since=${last.time}`)).length).toBeGreaterThan(0);
    expect((await entriesOf(`target=${made.id}&until=${last.time}`)).length).toBeLessThan(5);
    expect(await entriesOf(`target=${made.id}&operation=removeSource`)).toEqual([]);
    expect((await two.call("GET", "/v1/audit?cursor=x")).status).toBe(400);
  });

  it("AU2: goes on from the topic beyond what is held, and says how far it looked", async () => {
    const own = await createTestTopics("control");
    const codec = await own.openCodec<AuditEntry>("audit");
    const entry = (n: number): AuditEntry => ({
      ...{ atMs: n, actor: n === 1 ? "first" : "other", tokenId: null, way: "api", operation: "x" },
      ...{ target: "t", changes: [], requestId: `req_${n}`, revision: null },
    });
    const records = Array.from({ length: 30 }, (_, n) => ({
      topic: own.names.audit,
      key: "t",
      value: codec.encode(entry(n + 1)),
    }));
    await own.producer.send(records);
    const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
    const auditLog = new AuditLog(own.connection, {
      ...{ topic: own.names.audit, codec, clock, bounds: { held: 5, mostRead: 10 } },
      onFailure: (reason) => {
        throw reason;
      },
    });
    const all = await auditLog.page({ limit: 7, fits: () => true }, 5000);
    expect([all.entries.map(({ atMs }) => atMs), all.below, all.searchedToMs]).toEqual([
      [30, 29, 28, 27, 26, 25, 24],
      23,
      null,
    ]);
    const found: unknown[] = [];
    let below: number | null = null;
    do {
      const page = await auditLog.page(
        { limit: 5, below: below ?? undefined, fits: ({ actor }) => actor === "first" },
        5000,
      );
      found.push([page.entries.map(({ atMs }) => atMs), page.searchedToMs]);
      below = page.below;
    } while (below !== null);
    expect(found).toEqual([
      [[], 21],
      [[], 11],
      [[1], 1],
      [[], null],
    ]);
    auditLog.close();
    await own.remove();
  });
});
