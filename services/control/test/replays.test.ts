import { decodeProgress, headerText } from "@posthaste/contracts/headers";
import type { Delivery, Replay } from "@posthaste/core/delivery/delivery";
import { NO_INCARNATION } from "@posthaste/core/delivery/origin";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { createLogWriter, deadLetterAt, type LogWriter, momentOf } from "./log-writer.ts";

interface Seen {
  readonly key: string;
  readonly urls: string | undefined;
  readonly replay: Replay | null;
  readonly delivery: Delivery;
}

let topics: TestTopics;
let control: TestControl;
let writer: LogWriter;
let eachId: string;
const seen: Seen[] = [];

beforeAll(async () => {
  topics = await createTestTopics("control");
  writer = await createLogWriter(topics);
  control = await startTestControl(topics);
  await topics.follow<Delivery>(topics.names.deliveries, (delivery, { key, headers }) =>
    seen.push({
      key: String(key),
      urls: headerText(headers, "urls"),
      replay: decodeProgress(headers).replay,
      delivery,
    }),
  );
  const settings = { settle: "each", urls: [{ url: "https://a.example/" }, { url: "https://b.example/" }] };
  const created = await control.call("POST", "/v1/destinations", {
    ...{ type: "Webhooks", name: "each", sourceIds: [], enabled: true, settings },
  });
  eachId = created.body.id;
  await writer.deadLetters([1, 2, 3].map((n) => deadLetterAt(n)));
  await writer.strayDeadLetter();
  await writer.deadLetters([deadLetterAt(4, { destinationId: eachId, reason: "rejected_by_receiver" })], 1);
  await eventually(async () => {
    const { body } = await control.call("GET", "/v1/dead-letters");
    expect([body.data.length, body.complete]).toEqual([4, true]);
  });
});

beforeEach(() => {
  seen.length = 0;
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

/** Asks for a replay and waits for its end. */
async function replay(filter: object): Promise<Record<string, unknown>> {
  const { status, body } = await control.call("POST", "/v1/dead-letters/replay", filter);
  expect(status).toBe(202);
  return await eventually(async () => {
    const answer = await control.call("GET", `/v1/replays/${body.id}`);
    expect(answer.body).toMatchObject({ id: body.id, matched: body.matched, endedAt: expect.any(String) });
    return answer.body;
  });
}

describe("a replay", () => {
  it("passes over what is no dead letter", async () => {
    expect(await replay({ destinationId: "dst_1" })).toMatchObject({ state: "done", matched: 3, replayed: 3 });
    expect(control.logged()).toContain("dead_letter_unreadable");
  });

  it("sends each dead letter as a new delivery with its key, message id and body, in order (Z1, Z3)", async () => {
    expect(await replay({ destinationId: "dst_1" })).toMatchObject({ state: "done", matched: 3, replayed: 3 });
    await eventually(() => expect(seen).toHaveLength(3));
    expect(seen.map(({ delivery }) => delivery.messageId)).toEqual(["message-1", "message-2", "message-3"]);
    const [first] = seen;
    expect(first).toMatchObject({ key: "dst_1:user-7", urls: undefined });
    const { body, receivedAtMs, configOffset, event, restJson } = deadLetterAt(1);
    expect(first?.delivery).toEqual({
      ...{ messageId: "message-1", sourceId: "src_1", destinationId: "dst_1", type: "track" },
      ...{ receivedAtMs, configOffset, body, event, restJson },
      ...{ originIncarnation: NO_INCARNATION, originPartition: 0, originOffset: 1 },
    });
    const from = `${topics.names.deadLetters}/0/`;
    expect(first?.replay).toEqual({ id: expect.stringMatching(/^rpl_/), count: 1, from: `${from}0` });
    expect(seen.map(({ replay }) => replay?.from)).toEqual([0, 1, 2].map((offset) => `${from}${offset}`));
  });

  it("goes to the dead URLs alone where each URL is on its own", async () => {
    expect(await replay({ reason: "rejected_by_receiver" })).toMatchObject({ state: "done", replayed: 1 });
    await eventually(() => expect(seen).toHaveLength(1));
    expect(seen[0]).toMatchObject({ key: `${eachId}:user-7`, urls: '["https://a.example/hook"]' });
  });

  it("can be of a time", async () => {
    expect(await replay({ since: momentOf(2), until: momentOf(3) })).toMatchObject({ matched: 1, replayed: 1 });
    await eventually(() => expect(seen.map(({ delivery }) => delivery.messageId)).toEqual(["message-2"]));
  });

  it("only counts under dryRun, and sends nothing when nothing matches", async () => {
    const dry = await control.call("POST", "/v1/dead-letters/replay", { dryRun: true });
    expect([dry.status, dry.body]).toEqual([202, { id: null, matched: 4, leftOut: { suppressed: 0 } }]);
    const none = await control.call("POST", "/v1/dead-letters/replay", { destinationId: "dst_none" });
    expect([none.status, none.body]).toEqual([202, { id: null, matched: 0, leftOut: { suppressed: 0 } }]);
  });

  it("that nobody asked for is not found, and a wrong reason is refused", async () => {
    expect((await control.call("GET", "/v1/replays/rpl_none")).status).toBe(404);
    const { status, body } = await control.call("POST", "/v1/dead-letters/replay", { reason: "bored" });
    expect([status, body.detail]).toEqual([400, expect.stringMatching(/^reason: expected one of /)]);
  });
});
