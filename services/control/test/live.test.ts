/** The stream, over two control processes. Rules: LV1 and LV3 of live-stream.ts. */

import { attemptAt, createLogWriter, deadLetterAt, type LogWriter } from "@posthaste/testbed/log-writer";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { TestControl } from "./control.ts";
import { type LiveClient, openLive } from "./live-client.ts";
import { control, other, topics, useControls } from "./use-control.ts";

let one: TestControl;
let two: TestControl;
let writer: LogWriter;
const clients: LiveClient[] = [];

useControls();

beforeAll(async () => {
  [one, two] = [control, other];
  writer = await createLogWriter(topics);
  await Promise.all([one, two].map(isRead));
});

afterEach(() => {
  for (const client of clients.splice(0)) client.cut();
});

const isRead = (control: TestControl) =>
  eventually(async () => {
    const bodies = await Promise.all(["deliveries", "dead-letters"].map((path) => control.call("GET", `/v1/${path}`)));
    expect(bodies.map(({ body }) => body.complete)).toEqual([true, true]);
  });

/** Resolves when the stream said that it is there. */
async function open(control: TestControl, query: string, lastId?: string): Promise<LiveClient> {
  const client = await openLive(control.url, query, lastId === undefined ? {} : { lastId });
  clients.push(client);
  expect(client.status).toBe(200);
  await eventually(() => expect(client.events.length).toBeGreaterThan(0));
  return client;
}

const idsOf = (client: LiveClient, topic = "deliveries") => client.rows(topic).map(({ messageId }) => messageId);

/** Resolves with the event by which the client has come to a message. */
const until = (client: LiveClient, messageId: string) =>
  eventually(() => {
    const found = client.events.find(({ data }) => data.messageId === messageId);
    expect([messageId, found]).toEqual([messageId, expect.anything()]);
    return found?.id ?? "";
  });

describe("the stream", () => {
  it("is of server-sent events that nobody keeps, and says first up to when control has read", async () => {
    const client = await open(one, "topics=deliveries");
    expect(client.headers["content-type"]).toBe("text/event-stream");
    expect(client.headers["cache-control"]).toBe("no-store");
    expect(client.headers["content-disposition"]).toBeUndefined();
    expect(client.events[0]).toEqual({
      event: "beat",
      id: expect.stringMatching(/^d=/),
      data: { asOf: expect.any(String), complete: true },
    });
  });

  it("LV3: beats every five seconds while nothing comes", async () => {
    const beganMs = performance.now();
    const client = await open(one, "topics=audit");
    await eventually(() => expect(client.rows("beat").length).toBeGreaterThanOrEqual(2));
    const heartbeats = client.rows("beat").length;
    // The first comes at once; a machine that stands still makes the others fewer.
    expect(heartbeats).toBeLessThanOrEqual(1 + (performance.now() - beganMs) / 5000);
  });

  it("has each row as its list has it, and of what came before nothing", async () => {
    await writer.attempts([attemptAt(1, { destinationId: "dst_before" })]);
    await eventually(async () => {
      const { body } = await one.call("GET", "/v1/deliveries?destinationId=dst_before");
      expect(body.data).toHaveLength(1);
    });
    const client = await open(one, "topics=deliveries,dead-letters,audit,replays");
    await writer.attempts([attemptAt(2, { destinationId: "dst_rows" }), attemptAt(3, { destinationId: "dst_rows" })]);
    await writer.deadLetters([deadLetterAt(4, { destinationId: "dst_rows" })]);
    const { body: source } = await two.call("POST", "/v1/sources", { name: "Web", kind: "web" });
    await eventually(() => {
      expect([client.rows("deliveries").length, client.rows("dead-letters").length]).toEqual([2, 1]);
      expect(client.rows("audit")).toHaveLength(1);
    });
    const listed = async (path: string) => (await one.call("GET", `/v1/${path}`)).body.data;
    expect(client.rows("deliveries").reverse()).toEqual(await listed("deliveries?destinationId=dst_rows"));
    expect(client.rows("dead-letters")).toEqual(await listed("dead-letters?destinationId=dst_rows"));
    expect(client.rows("audit")).toEqual(await listed(`audit?target=${source.id}`));
  });

  it("says of a dead letter what became of it, as far as that is known when it comes", async () => {
    await writer.attempts([attemptAt(9, { destinationId: "dst_late", messageId: "late" })]);
    await eventually(async () => {
      const { body } = await one.call("GET", "/v1/deliveries?destinationId=dst_late");
      expect(body.data).toHaveLength(1);
    });
    const client = await open(one, "topics=dead-letters&destinationId=dst_late");
    const dead = { destinationId: "dst_late", messageId: "late" };
    await writer.deadLetters([deadLetterAt(8, dead), deadLetterAt(10, { ...dead, messageId: "open" })]);
    await eventually(() =>
      expect(client.rows("dead-letters").map(({ messageId, state }) => [messageId, state])).toEqual([
        ["late", "deliveredSince"],
        ["open", "open"],
      ]),
    );
  });

  it("has a replay each time that it changed, as the list has it then", async () => {
    const { body: source } = await one.call("POST", "/v1/sources", { name: "Web", kind: "web" });
    const settings = { urls: [{ url: "http://127.0.0.1:1/hook" }] };
    const input = { type: "Webhooks", name: "CRM", sourceIds: [source.id], settings };
    const { id: destinationId } = (await one.call("POST", "/v1/destinations", input)).body;
    await writer.deadLetters([deadLetterAt(1, { destinationId }), deadLetterAt(2, { destinationId })]);
    await eventually(async () => {
      const { body } = await one.call("GET", `/v1/dead-letters?destinationId=${destinationId}`);
      expect(body.data).toHaveLength(2);
    });
    const client = await open(two, "topics=replays");
    const asked = { destinationId, ratePerSecond: 0.001 };
    const { id } = (await one.call("POST", "/v1/replays", asked)).body;
    await one.call("POST", `/v1/replays/${id}/pause`);
    await one.call("POST", `/v1/replays/${id}/cancel`);
    await eventually(() => expect(client.rows("replays").at(-1)?.endedAt).toEqual(expect.any(String)));
    expect(new Set(client.rows("replays").map((row) => row.id))).toEqual(new Set([id]));
    // The one that is asked may hear of the end after the other.
    await eventually(async () => {
      const listed = (await one.call("GET", `/v1/replays/${id}`)).body;
      expect(client.rows("replays").at(-1)).toEqual({ ...listed, delivered: null, failedAgain: null });
    });
    const other = await open(two, "topics=replays&replayId=rpl_other");
    await one.call("POST", "/v1/replays", asked);
    await eventually(() => expect(client.rows("replays").at(-1)?.id).not.toBe(id));
    expect(other.rows("replays")).toEqual([]);
  });

  it.each([
    ["destinationId=dst_f", [1, 2, 3, 4]],
    ["outcome=retryable", [2]],
    ["messageId=message-3", [3]],
    ["sourceId=src_f&destinationId=dst_f", [4]],
    ["type=page&destinationId=dst_f", [1]],
    ["event=Signed%20Up", [1]],
    ["userId=user-f", [3]],
    ["statusClass=5xx", [2]],
    ["error=503", [2]],
    ["attempt=2", [2]],
    ["replayId=rpl_f", [4]],
  ])("shows with %s what the list shows", async (filter, expected) => {
    const client = await open(one, `topics=deliveries&${filter}`);
    const all = await open(one, "topics=deliveries");
    const urls = [{ url: "https://a.example/hook", status: 503, error: null, durationMs: 1, answer: "" }];
    await writer.attempts(
      [
        attemptAt(1, { type: "page", event: "Signed Up" }),
        attemptAt(2, { outcome: "retryable", attempt: 2, urls }),
        attemptAt(3, { userKey: "user-f" }),
        attemptAt(4, { sourceId: "src_f", replayId: "rpl_f" }),
      ].map((attempt) => ({ ...attempt, destinationId: "dst_f" })),
    );
    await writer.attempts([attemptAt(9, { messageId: `end-${filter}`, destinationId: "dst_none" })]);
    await until(all, `end-${filter}`);
    // All is written by now; an event on another connection may come a moment later.
    await eventually(() => expect(idsOf(client)).toEqual(expected.map((n) => `message-${n}`)));
  });

  it("shows of dead letters and changes what their filters fit", async () => {
    const deadLetters = await open(one, "topics=dead-letters&reason=window_expired&type=page&error=503&userId=user-7");
    const all = await open(one, "topics=dead-letters");
    const changes = await open(one, "topics=audit&operation=changeSource&actor=admin");
    const none = await open(one, "topics=audit&actor=nobody");
    await writer.deadLetters([
      deadLetterAt(1, { type: "page" }),
      deadLetterAt(2),
      deadLetterAt(3, { type: "page", reason: "rejected_by_receiver" }),
      deadLetterAt(4, { type: "page", lastAttempt: [] }),
    ]);
    await writer.deadLetters([deadLetterAt(5, { type: "page" })], 0, "user-9");
    await until(all, "message-5");
    await eventually(() => expect(idsOf(deadLetters, "dead-letters")).toEqual(["message-1"]));
    const { body: source } = await one.call("POST", "/v1/sources", { name: "Web", kind: "web" });
    await one.call("PATCH", `/v1/sources/${source.id}`, { name: "Shop" });
    await eventually(() => expect(changes.rows("audit").map(({ operation }) => operation)).toEqual(["changeSource"]));
    expect(none.rows("audit")).toEqual([]);
  });

  it("leaves out dead letters of suppressed users, and those that were purged, as their list does", async () => {
    const { body: source } = await one.call("POST", "/v1/sources", { name: "Web", kind: "web" });
    const sourceId = source.id;
    await one.call("POST", "/v1/deletions", { userId: "user-8", sourceIds: [sourceId], suppress: true });
    await eventually(async () => {
      const { body } = await one.call("GET", "/v1/suppressions?userId=user-8");
      expect(body.sourceIds).toContain(sourceId);
    });
    const client = await open(one, "topics=dead-letters");
    const body = (userId: string) => Buffer.from(JSON.stringify({ userId }));
    await writer.deadLetters([deadLetterAt(1, { sourceId, userKey: "user-8", body: body("user-8") })], 0, "user-8");
    await writer.deadLetters([deadLetterAt(2, { sourceId })]);
    await until(client, "message-2");
    expect(idsOf(client, "dead-letters")).toEqual(["message-2"]);
  });

  it.each([
    ["", "topics: expected some of"],
    ["topics=deliveries,cats", "topics: expected some of"],
    ["topics=", "topics: expected some of"],
    ["topics=audit&destinationId=dst_1", "destinationId: no topic of audit has this filter"],
    ["topics=deliveries&since=2026-11-21T10:00:00Z", "since"],
  ])("is refused for %j with what was expected", async (query, detail) => {
    const { status, body } = await one.call("GET", `/v1/live?${query}`);
    expect([status, body.detail]).toEqual([400, expect.stringContaining(detail)]);
  });
});
