import { createHash } from "node:crypto";
import { get, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { Deletion } from "@posthaste/core/deletion/deletion";
import { SUPPRESSION_LEASE_MS, type Suppression } from "@posthaste/core/deletion/suppression";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { SuppressionExpiry } from "@posthaste/deletions/suppression-expiry";
import { SuppressionWriter } from "@posthaste/deletions/suppression-writer";
import { followSuppressedUsers } from "@posthaste/kafka/log/suppressed-users";
import { createLogWriter, deadLetterAt, type LogWriter } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ADMIN_TOKEN, startTestControl, type TestControl } from "./control.ts";

let topics: TestTopics;
let control: TestControl;
let writer: LogWriter;
let sourceIds: readonly [string, string];
let destinationId: string;
const deliveries: Delivery[] = [];
const suppressions: (Suppression & { readonly key: string; readonly writtenAtMs: number })[] = [];

beforeAll(async () => {
  topics = await createTestTopics("control");
  control = await startTestControl(topics, { env: { POSTHASTE_SUPPRESSION_DAYS: "30" } });
  writer = await createLogWriter(topics);
  await topics.follow<Delivery>(topics.names.deliveries, (delivery) => deliveries.push(delivery));
  await topics.follow<Suppression>(topics.names.suppressions, (suppression, { key, timestampMs }) =>
    suppressions.push({ ...suppression, key: String(key), writtenAtMs: timestampMs }),
  );
  const create = async (): Promise<string> =>
    (await control.call("POST", "/v1/sources", { name: "s", kind: "web" })).body.id;
  sourceIds = [await create(), await create()];
  const settings = { urls: [{ url: "https://a.example/" }] };
  const made = await control.call("POST", "/v1/destinations", {
    ...{ type: "Webhooks", name: "d", sourceIds: [], enabled: true, settings },
  });
  destinationId = made.body.id;
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

const suppressedAt = async (userId: string): Promise<string[]> =>
  (await control.call("GET", `/v1/suppressions?userId=${userId}`)).body.sourceIds;

/** Message ids of the rows of an export, and its trailer's value. */
async function exported(format: string, more = ""): Promise<{ ids: string[]; leftOut: string | undefined }> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const answer = Promise.withResolvers<IncomingMessage>();
  // `fetch` tells no trailers.
  get(`${control.url}/v1/dead-letters/export?format=${format}${more}`, { headers }, answer.resolve).on(
    "error",
    answer.reject,
  );
  const response = await answer.promise;
  const file = await buffer(response);
  return { ids: await idsIn(file, format), leftOut: response.trailers["posthaste-left-out"] };
}

async function idsIn(file: Buffer, format: string): Promise<string[]> {
  if (format === "parquet") {
    const { buffer, byteOffset, byteLength } = new Uint8Array(file);
    const rows = await parquetReadObjects({ file: buffer.slice(byteOffset, byteOffset + byteLength) });
    return rows.map(({ messageId }) => String(messageId));
  }
  const lines = file.toString().trim().split(/\r?\n/);
  if (format === "ndjson") return lines.map((line) => JSON.parse(line).messageId);
  const column = lines[0]?.split(",").indexOf("messageId") ?? -1;
  return lines.slice(1).map((line) => line.split(",")[column] ?? "");
}

describe("a request that suppresses", () => {
  it("is answered when the suppressions stood in their topic for as long as anyone has an old view", async () => {
    const answered = control.call("POST", "/v1/deletions", { id: "one", userIds: ["gone", "left"], suppress: true });
    const { status, body } = await answered;
    const answeredAtMs = Date.now();
    await eventually(() => expect(suppressions).toHaveLength(4));
    expect([status, body]).toEqual([202, { id: "one", notifications: 0, suppressed: 4 }]);
    const stoodForMs = suppressions.map(({ writtenAtMs }) => answeredAtMs - writtenAtMs);
    expect(Math.min(...stoodForMs)).toBeGreaterThanOrEqual(SUPPRESSION_LEASE_MS);
    expect(suppressions.map(({ key }) => key).sort()).toEqual(
      sourceIds.flatMap((sourceId) => [`${sourceId}:gone`, `${sourceId}:left`]).sort(),
    );
    const { suppressedAtMs, endsAtMs } = suppressions[0] ?? { suppressedAtMs: 0, endsAtMs: 0 };
    expect((endsAtMs ?? 0) - suppressedAtMs).toBe(30 * 24 * 60 * 60 * 1000);
    expect(await suppressedAt("gone")).toEqual([...sourceIds]);
    expect(await suppressedAt("here")).toEqual([]);
  });

  it("does not wait again for a request that this process carried out as long ago", async () => {
    // The call is repeated where the machine stood still: a control that waits would wait each time.
    await eventually(async () => {
      const fromMs = performance.now();
      await control.call("POST", "/v1/deletions", { id: "one", userIds: ["gone", "left"], suppress: true });
      expect(performance.now() - fromMs).toBeLessThan(SUPPRESSION_LEASE_MS);
    });
    expect(suppressions).toHaveLength(4);
  });
});

describe("a request that another process of control carried out a moment ago", () => {
  it("is answered no sooner for it, however far that process's clock is off", async () => {
    const codec = await topics.openCodec<Deletion>("deletion");
    const [hourAgoMs, userIds] = [Date.now() - 3_600_000, ["by-another"]];
    const deletion: Deletion = {
      ...{ id: "another", state: "sent", createdAtMs: hourAgoMs, sentAtMs: hourAgoMs, suppress: true },
      ...{ suppressionEndsAtMs: null, userIds, sourceIds: [...sourceIds], receivers: [] },
      content: createHash("sha256")
        .update(JSON.stringify([userIds, null, true]))
        .digest("hex"),
    };
    const headers = { [REVISION_HEADER]: String(Date.now() * 1024) };
    const fromMs = performance.now();
    await topics.producer.send([
      { topic: topics.names.deletions, key: "another", value: codec.encode(deletion), headers },
    ]);
    const { status } = await control.call("POST", "/v1/deletions", { id: "another", userIds, suppress: true });
    expect(status).toBe(202);
    expect(performance.now() - fromMs).toBeGreaterThanOrEqual(SUPPRESSION_LEASE_MS);
  });
});

describe("dead letters of suppressed users", () => {
  const matchesOf = (user: string) => `user=${user}`;

  beforeAll(async () => {
    const of = (n: number, sourceId: string, differing: Partial<DeadLetter> = {}) =>
      deadLetterAt(n, { sourceId, destinationId, messageId: `${matchesOf("x")}-${n}`, ...differing });
    const [first] = sourceIds;
    await writer.deadLetters([of(1, first), of(2, first)], 0, "gone");
    await writer.deadLetters([of(3, first), of(4, "src_other")], 0, "here");
    await writer.deadLetters([of(5, "src_other")], 0, "gone");
    const dropped = { reason: "suppressed" as const, body: Buffer.alloc(0) };
    await writer.deadLetters([of(6, first, { messageId: "dropped", ...dropped })], 1, "gone");
    await writer.deadLetters([of(7, first, { messageId: "told", type: "delete" })], 1, "gone");
    const alias = { type: "alias" as const, body: Buffer.from('{"Previous ID":"gone","User ID":"here"}') };
    await writer.deadLetters([of(8, first, { messageId: "aliased", ...alias })], 1, "here");
    await eventually(async () => {
      const { body } = await control.call("GET", "/v1/dead-letters");
      expect([body.complete, body.data.length + body.leftOut.suppressed]).toEqual([true, 8]);
    });
  });

  it("are left out of the list, of any page, and counted; what was dropped and notifications are not", async () => {
    const { body } = await control.call("GET", "/v1/dead-letters");
    expect(body.data.map(({ messageId }: { messageId: string }) => messageId)).toEqual([
      ...["told", "dropped"],
      ...[5, 4, 3].map((n) => `${matchesOf("x")}-${n}`),
    ]);
    expect(body.leftOut).toEqual({ suppressed: 3, purged: 0 });
    const seen: string[] = [];
    let leftOut = 0;
    for (let cursor: string | null = ""; cursor !== null; ) {
      const path: string = `/v1/dead-letters?limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const page = (await control.call("GET", path)).body;
      seen.push(...page.data.map(({ messageId }: { messageId: string }) => messageId));
      leftOut += page.leftOut.suppressed;
      cursor = page.nextCursor;
    }
    expect([seen.length, leftOut]).toEqual([5, 3]);
  });

  it("are left out of the counts, and told beside them", async () => {
    const { body } = await control.call("GET", "/v1/dead-letters/counts");
    expect(body).toMatchObject({
      data: [
        { destinationId, reason: "suppressed", count: 1 },
        { destinationId, reason: "window_expired", count: 4 },
      ],
      leftOut: { suppressed: 3 },
    });
  });

  it.each(["ndjson", "csv", "parquet"])(
    "are left out of an export as %s, and told behind its end; what was dropped is in it",
    async (format) => {
      const kept = ["told", "dropped", ...[3, 4, 5].map((n) => `${matchesOf("x")}-${n}`)].sort();
      const { ids, leftOut } = await exported(format);
      expect([ids.sort(), leftOut]).toEqual([kept, "suppressed=3, purged=0"]);
      expect((await exported(format, "&reason=suppressed")).leftOut).toBe("suppressed=0, purged=0");
    },
  );

  it("are not sent again, nor is what was dropped, and the replay says of how many", async () => {
    const { body } = await control.call("POST", "/v1/replays", {});
    expect(body).toMatchObject({ matched: 4, leftOut: { suppressed: 4 } });
    await eventually(async () => {
      const replay = await control.call("GET", `/v1/replays/${body.id}`);
      expect(replay.body).toMatchObject({ state: "done", matched: 4, replayed: 4, leftOut: { suppressed: 4 } });
    });
    await eventually(() => expect(deliveries).toHaveLength(4));
    const sent = deliveries.map(({ messageId }) => messageId).sort();
    expect(sent).toEqual(["told", ...[3, 4, 5].map((n) => `${matchesOf("x")}-${n}`)].sort());
  });

  it("are seen again when the suppression was ended, but for what was dropped, which has no body", async () => {
    const [first, second] = sourceIds;
    const one = await control.call("DELETE", `/v1/suppressions?userId=gone&sourceId=${first}`);
    expect([one.status, one.body]).toEqual([200, { userId: "gone", ended: [first] }]);
    expect(await suppressedAt("gone")).toEqual([second]);
    expect((await control.call("GET", "/v1/dead-letters")).body).toMatchObject({ leftOut: { suppressed: 0 } });
    expect((await exported("ndjson")).ids).toHaveLength(8);
    const all = await control.call("DELETE", "/v1/suppressions?userId=gone");
    expect(all.body.ended).toEqual([second]);
    expect((await control.call("DELETE", "/v1/suppressions?userId=gone")).body.ended).toEqual([]);
    const replay = await control.call("POST", "/v1/replays", { dryRun: true });
    expect(replay.body).toMatchObject({ id: null, matched: 3, leftOut: { suppressed: 1, replayedBefore: 4 } });
    const again = await control.call("POST", "/v1/replays", { dryRun: true, again: true });
    expect(again.body).toMatchObject({ id: null, matched: 7, leftOut: { suppressed: 1, replayedBefore: 0 } });
  });

  it("of a source that there is not are asked for in vain", async () => {
    expect((await control.call("DELETE", "/v1/suppressions?userId=u&sourceId=src_none")).status).toBe(404);
    expect((await control.call("DELETE", "/v1/suppressions")).status).toBe(400);
  });
});

describe("suppressions whose days are over", () => {
  it("SX1: are ended by the pass, and those that were renewed or never end are not", async () => {
    const other = await createTestTopics("control");
    const { names, connection, producer, openCodec } = other;
    const codec = await openCodec<Suppression>("suppression");
    const suppressed = await followSuppressedUsers(connection, {
      topic: names.suppressions,
      onFailure: (reason) => {
        throw reason;
      },
    });
    const clock = { nowMs: () => 1000, monotonicMs: () => performance.now() };
    const parts = { topic: names.suppressions, codec, suppressed, clock };
    const suppressionWriter = new SuppressionWriter({ ...parts, producer, writer: 0 });
    const suppress = (userId: string, endsAtMs: number | null) =>
      suppressionWriter.suppress([{ sourceId: "src_1", userId, deletionId: "d", suppressedAtMs: 1, endsAtMs }]);
    const expiry = new SuppressionExpiry({ ...parts, connection, writer: suppressionWriter, firstMs: 1 });
    try {
      await suppress("over", 900);
      await suppress("renewed", 900);
      await suppress("renewed", 2000);
      await suppress("for-good", null);
      await suppress("still", 1001);
      await suppress("ended", 900);
      await suppressionWriter.end([{ sourceId: "src_1", userId: "ended" }], []);
      expiry.start();
      await eventually(() => expect(suppressed.has("src_1:over")).toBe(false));
      await suppressed.refresh(30_000);
      const held = ["over", "renewed", "for-good", "still", "ended"].filter((user) => suppressed.has(`src_1:${user}`));
      expect(held).toEqual(["renewed", "for-good", "still"]);
    } finally {
      await expiry.close();
      await suppressed.close();
      await other.remove();
    }
  });

  it("are looked for by each process of control from its start on", async () => {
    const start = vi.spyOn(SuppressionExpiry.prototype, "start");
    const another = await startTestControl(topics);
    expect(start).toHaveBeenCalledTimes(1);
    start.mockRestore();
    await another.stop();
  });

  it("SX1: an end of what was renewed meanwhile comes to nothing, and is repaired in the topic", async () => {
    const [sourceId] = sourceIds;
    await control.call("POST", "/v1/deletions", { userId: "renewed", sourceIds: [sourceId], suppress: true });
    const key = `${sourceId}:renewed`;
    const written = () => suppressions.filter((each) => each.key === key);
    await eventually(() => expect(written()).toHaveLength(1));
    // The end of the suppression as it was before it was renewed.
    const headers = { [REVISION_HEADER]: "7" };
    await topics.producer.send([{ topic: topics.names.suppressions, key, value: null, headers }]);
    await eventually(() => expect(written()).toHaveLength(2));
    expect(await suppressedAt("renewed")).toEqual([sourceId]);
  });
});
