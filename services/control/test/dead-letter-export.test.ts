import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { createLogWriter, deadLetterAt, momentOf } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_TOKEN, startTestControl, type TestControl } from "./control.ts";

let topics: TestTopics;
let control: TestControl;
const deadLetters: DeadLetter[] = [];

beforeAll(async () => {
  topics = await createTestTopics("control");
  const writer = await createLogWriter(topics);
  control = await startTestControl(topics);
  const url = { url: "https://a.example/hook", status: null, error: "timeout", durationMs: 5000 };
  const history = [{ attempt: 1, replayId: null, startedAtMs: 1_700_000_000_000, urls: [url] }];
  deadLetters.push(
    deadLetterAt(1, { event: 'Says "hi",\r\nthen goes', history }),
    deadLetterAt(2, { destinationId: "dst_2", event: "", restJson: '{"name":"x"}', lastAttempt: [url] }),
    deadLetterAt(3, { reason: "suppressed", body: Buffer.alloc(0), userKey: null, windowStartMs: null }),
    deadLetterAt(4, { type: "delete", event: null, replays: 2, replayId: "rpl_1", replayedFrom: "t/0/1" }),
  );
  await writer.deadLetters(deadLetters.slice(0, 2));
  await writer.strayDeadLetter();
  await writer.deadLetters(deadLetters.slice(2), 1);
  await eventually(async () => {
    const { body } = await control.call("GET", "/v1/dead-letters");
    expect([body.data.length, body.complete]).toEqual([4, true]);
  });
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

async function exported(query: string): Promise<{ type: string | null; name: string | null; bytes: ArrayBuffer }> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const answer = await fetch(`${control.url}/v1/dead-letters/export?${query}`, { headers });
  expect(answer.status).toBe(200);
  const bytes = await answer.arrayBuffer();
  return { type: answer.headers.get("content-type"), name: answer.headers.get("content-disposition"), bytes };
}
const textOf = async (query: string): Promise<string> => Buffer.from((await exported(query)).bytes).toString();
const linesOf = async (query: string): Promise<Record<string, unknown>[]> =>
  (await textOf(query))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** Fields of RFC 4180 as rows of texts; null where nothing stands. */
function csvRows(text: string): (string | null)[][] {
  const rows: (string | null)[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted === undefined ? plain || null : quoted.replaceAll('""', '"'));
    if (end === "\r\n") rows.push([]);
  }
  return rows.slice(0, -1);
}

describe("an export", () => {
  it("as NDJSON has every dead letter with its body as it stands, in order of the topic", async () => {
    const { type, name } = await exported("format=ndjson");
    expect([type, name]).toEqual(["application/x-ndjson", 'attachment; filename="dead-letters.ndjson"']);
    const rows = await linesOf("");
    expect(rows.map(({ place }) => place)).toEqual(["0:0", "0:1", "1:0", "1:1"]);
    expect(rows[0]).toMatchObject({
      ...{ time: momentOf(1), receivedAt: momentOf(0), body: { n: 1 }, event: 'Says "hi",\r\nthen goes' },
      history: deadLetters[0]?.history,
    });
    expect(rows[1]).toMatchObject({ errors: "timeout", rest: { name: "x" }, event: "" });
    expect(rows[2]).toMatchObject({ body: null, userKey: null, windowStart: null });
    expect(await textOf("")).toContain('"body":{"n":1}');
  });

  it("as CSV and as Parquet has the same rows and columns", async () => {
    const rows = await linesOf("");
    const names = Object.keys(rows[0] ?? {});
    const [head, ...csv] = csvRows(await textOf("format=csv"));
    expect(head).toEqual(names);
    const asText = (value: unknown): string | null =>
      value === null ? null : typeof value === "object" ? JSON.stringify(value) : String(value);
    expect(csv).toEqual(rows.map((row) => names.map((name) => asText(row[name]))));

    const { type, bytes } = await exported("format=parquet");
    expect(type).toBe("application/vnd.apache.parquet");
    const parquet = await parquetReadObjects({ file: bytes });
    const read = (value: unknown): string | null => {
      if (value === null || value === undefined) return null;
      return value instanceof Date ? value.toISOString() : String(value);
    };
    expect(parquet.map((row) => names.map((name) => read(row[name])))).toEqual(
      rows.map((row) => names.map((name) => asText(row[name]))),
    );
  });

  it("has those alone that were asked for, and is refused in a format that there is none of", async () => {
    expect((await linesOf("destinationId=dst_2&error=timeout")).map(({ place }) => place)).toEqual(["0:1"]);
    expect(await textOf("destinationId=dst_none")).toBe("");
    expect((await parquetReadObjects({ file: (await exported("format=parquet&userId=nobody")).bytes })).length).toBe(0);
    const { status, body } = await control.call("GET", "/v1/dead-letters/export?format=xml");
    expect([status, body.detail]).toEqual([400, "format: expected one of ndjson, csv, parquet"]);
  });
});

describe("one dead letter", () => {
  it("is shown by its place, with its body, its history and its origin", async () => {
    const { status, body } = await control.call("GET", "/v1/dead-letters/0:1");
    expect([status, body]).toMatchObject([
      200,
      {
        ...{ place: "0:1", messageId: "message-2", body: '{"n":2}', rest: '{"name":"x"}', history: [] },
        origin: { topic: "posthaste.events", partition: 0, offset: 2 },
      },
    ]);
    expect((await control.call("GET", "/v1/dead-letters/0:0")).body.history).toMatchObject([
      { attempt: 1, replayId: null, startedAt: "2023-11-14T22:13:20.000Z" },
    ]);
  });

  it.each(["0:2", "0:77", "9:0", "seven", "1:0:0"])("is not found at %s", async (place) => {
    const { status, body } = await control.call("GET", `/v1/dead-letters/${place}`);
    expect([status, body.detail]).toEqual([404, expect.stringContaining("there is no dead letter at")]);
  });
});

describe("groups", () => {
  it("say what died of what, how many when, and what helps", async () => {
    const { body } = await control.call("GET", "/v1/dead-letters/groups");
    expect(body.complete).toBe(true);
    expect(body.data).toHaveLength(3);
    expect(body.data[0]).toMatchObject({
      ...{ destinationId: "dst_1", reason: "window_expired", reasonClass: "receiver", error: "503", count: 2 },
      ...{ firstAt: momentOf(1), lastAt: momentOf(4), sample: "1:1" },
      remedy: "the receiver did not take it before its retries ended: replay when it answers again",
    });
    const hours: readonly { count: number }[] = body.data[0].hours;
    expect(hours.reduce((sum, { count }) => sum + count, 0)).toBe(2);
    const named = await control.call("GET", "/v1/dead-letters/groups?reason=suppressed");
    expect(named.body.data.map(({ count }: { count: number }) => count)).toEqual([1]);
  });

  it("come in pages, the largest first, each once", async () => {
    const whole = (await control.call("GET", "/v1/dead-letters/groups")).body;
    expect([whole.nextCursor, whole.groups, whole.data.map(({ count }: { count: number }) => count)]).toEqual([
      ...[null, 3, [2, 1, 1]],
    ]);
    const paged: unknown[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const from: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const { body } = await control.call("GET", `/v1/dead-letters/groups?limit=1${from}`);
      expect([body.data.length, body.groups]).toEqual([1, 3]);
      paged.push(...body.data);
      cursor = body.nextCursor;
    }
    expect(paged).toEqual(whole.data);
    const { status, body } = await control.call("GET", "/v1/dead-letters/groups?cursor=b2Rk");
    expect([status, body.errors]).toMatchObject([400, [{ path: "cursor" }]]);
  });
});

describe("a purge", () => {
  const purge = (body: object) => control.call("POST", "/v1/dead-letters/purge", body);

  it("needs a plan of its own", async () => {
    expect((await purge({ userId: "user-7" })).status).toBe(400);
    const replay = await control.call("POST", "/v1/replays", { dryRun: true, again: true });
    expect(replay.body.plan).toBeNull();
    const dry = (await purge({ reason: "window_expired", dryRun: true })).body;
    expect(dry).toMatchObject({ id: null, matched: 3, bytesKeptUntil: null });
    expect((await control.call("POST", "/v1/replays", { plan: dry.plan })).status).toBe(409);
    expect((await control.call("GET", `/v1/replays/${dry.plan}`)).status).toBe(404);
  });

  it("is only counted by a dry run of its plan, as often as that is asked for", async () => {
    const { plan } = (await purge({ reason: "window_expired", dryRun: true })).body;
    for (let time = 0; time < 2; time += 1) {
      const { status, body } = await purge({ plan, dryRun: true });
      expect([status, body]).toMatchObject([202, { id: null, plan, matched: 3, bytesKeptUntil: null }]);
    }
  });

  it("has what it counted be seen no more, whoever asks for it how, and nothing else", async () => {
    const { plan } = (await purge({ userId: "user-7", until: momentOf(4), dryRun: true })).body;
    const { status, body } = await purge({ plan });
    expect([status, body]).toMatchObject([202, { id: plan, matched: 3, bytesKeptUntil: expect.any(String) }]);
    expect(Date.parse(body.bytesKeptUntil)).toBeGreaterThan(Date.now() + 13 * 86_400_000);
    const list = (await control.call("GET", "/v1/dead-letters")).body;
    expect([list.data.map(({ place }: { place: string }) => place), list.leftOut.purged]).toEqual([["1:1"], 3]);
    const counts = (await control.call("GET", "/v1/dead-letters/counts")).body;
    expect(counts).toMatchObject({
      ...{ data: [{ destinationId: "dst_1", reason: "window_expired", count: 1 }], leftOut: { purged: 3 } },
    });
    expect((await linesOf("")).map(({ place }) => place)).toEqual(["1:1"]);
    expect((await control.call("GET", "/v1/dead-letters/groups")).body.data).toHaveLength(1);
    expect((await control.call("GET", "/v1/dead-letters/0:0")).status).toBe(404);
    const replay = await control.call("POST", "/v1/replays", { dryRun: true, again: true });
    expect(replay.body.leftOut).toMatchObject({ purged: 3, destinationRemoved: 1 });
    expect((await purge({ userId: "user-7", dryRun: true })).body).toMatchObject({
      matched: 1,
      leftOut: { purged: 3 },
    });
    expect((await purge({ plan })).status).toBe(409);
  });

  it("holds at another control too", async () => {
    const other = await startTestControl(topics);
    try {
      await eventually(async () => {
        const { body } = await other.call("GET", "/v1/dead-letters");
        expect([body.complete, body.data.length]).toEqual([true, 1]);
      });
    } finally {
      await other.stop();
    }
  });
});
