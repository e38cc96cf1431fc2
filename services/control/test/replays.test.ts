/** Over the real broker: Z1 to Z6 of `replay-run.ts`, RR1 and RR2 of `replay-runner.ts`. */
import { decodeProgress, headerText } from "@posthaste/contracts/headers";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { Delivery, Replay } from "@posthaste/core/delivery/delivery";
import { NO_TOPIC_GENERATION } from "@posthaste/core/delivery/origin";
import { NONE_SKIPPED } from "@posthaste/core/replay/replay";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { attemptAt, createLogWriter, deadLetterAt, type LogWriter, momentOf } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Answer, startTestControl, type TestControl } from "./control.ts";
import { type SilentRegistry, silenceable } from "./silent-registry.ts";

interface Seen {
  readonly key: string;
  readonly urls: string | undefined;
  readonly replay: Replay | null;
  readonly delivery: Delivery;
}

let topics: TestTopics;
let control: TestControl;
let writer: LogWriter;
let anyId: string;
let eachId: string;
const seen: Seen[] = [];
/** Deliveries that were read, of whichever test. */
let read = 0;
let registry: SilentRegistry;
const start = () => startTestControl({ ...topics, openCodec: registry.openCodec });

async function createDestination(name: string, settle: "any" | "each" = "any"): Promise<string> {
  const settings = { settle, urls: [{ url: "https://a.example/hook" }, { url: "https://b.example/hook" }] };
  const created = await control.call("POST", "/v1/destinations", {
    ...{ type: "Webhooks", name, sourceIds: [], enabled: true, settings },
  });
  return created.body.id;
}

beforeAll(async () => {
  topics = await createTestTopics("control");
  writer = await createLogWriter(topics);
  registry = silenceable(topics.openCodec, "dead-letter");
  control = await start();
  await topics.follow<Delivery>(topics.names.deliveries, (delivery, { key, headers }) => {
    const { replay } = decodeProgress(headers);
    seen.push({ key: String(key), urls: headerText(headers, "urls"), replay, delivery });
    read += 1;
  });
  [anyId, eachId] = [await createDestination("any"), await createDestination("each", "each")];
  await writer.deadLetters([1, 2, 3].map((n) => deadLetterAt(n, { destinationId: anyId })));
  await writer.strayDeadLetter();
  await writer.deadLetters([deadLetterAt(4, { destinationId: eachId, reason: "rejected_by_receiver" })], 1);
  await eventually(async () => {
    const { body } = await control.call("GET", "/v1/dead-letters");
    expect([body.data.length, body.complete]).toEqual([4, true]);
  });
});

beforeEach(async () => {
  // Deliveries that an earlier test sent without waiting reach no later test.
  const offsets = await topicOffsets(topics.connection, topics.names.deliveries);
  await eventually(() => expect(read).toBe(offsets.reduce((sum, { end }) => sum + end, 0)));
  seen.length = 0;
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

const REPLAYED = /^posthaste_replayed_deliveries_total (\d+)$/m;
const replayed = async () => Number(REPLAYED.exec(await control.registry.metrics())?.[1]);
const plan = (filter: object): Promise<Answer> => control.call("POST", "/v1/replays", { dryRun: true, ...filter });
const get = async (id: string, on = control) => (await on.call("GET", `/v1/replays/${id}`)).body;

/** Waits for a replay's end. */
function ended(id: string, on = control): Promise<Record<string, unknown>> {
  return eventually(async () => {
    const replay = await get(id, on);
    expect(replay).toMatchObject({ id, endedAt: expect.any(String) });
    return replay;
  });
}

/** Cancels it and answers the replay as it stands when its runner has come to that, however long that takes it. */
async function cancel(id: string) {
  expect((await control.call("POST", `/v1/replays/${id}/cancel`)).status).toBe(200);
  return await eventually(async () => {
    const replay = await get(id);
    expect(replay).toMatchObject({ state: "cancelled", endedAt: expect.any(String) });
    return replay;
  });
}

/** Requests a replay, of dead letters replayed before too, and waits for its end. */
async function replay(filter: object): Promise<Record<string, unknown>> {
  const { status, body } = await control.call("POST", "/v1/replays", { again: true, ...filter });
  expect(status).toBe(202);
  return await ended(body.id);
}

/** Dead letters of a destination of the test's own, with the user of each. */
async function deadLettersOf(destinationId: string, count: number, differing: Partial<DeadLetter> = {}): Promise<void> {
  const deadLetters = Array.from({ length: count }, (_, n) =>
    deadLetterAt(5, { destinationId, messageId: `${destinationId}-${n}`, ...differing }),
  );
  await writer.deadLetters(deadLetters.slice(0, count / 2), 0);
  await writer.deadLetters(deadLetters.slice(count / 2), 1);
}

describe("a replay", () => {
  it("passes over what is no dead letter", async () => {
    expect(await replay({ destinationId: anyId })).toMatchObject({ state: "done", matched: 3, replayed: 3 });
    expect(control.logged()).toContain("dead_letter_unreadable");
  });

  it("sends each dead letter as a new delivery with its key, message id and body, in order (Z1, Z3)", async () => {
    const before = await replayed();
    expect(await replay({ destinationId: anyId })).toMatchObject({ state: "done", matched: 3, replayed: 3 });
    await eventually(() => expect(seen).toHaveLength(3));
    expect(seen.map(({ delivery }) => delivery.messageId)).toEqual(["message-1", "message-2", "message-3"]);
    const [first] = seen;
    expect(first).toMatchObject({ key: `${anyId}:user-7`, urls: undefined });
    const { body, receivedAtMs, configOffset, event, restJson } = deadLetterAt(1);
    expect(first?.delivery).toEqual({
      ...{ messageId: "message-1", sourceId: "src_1", destinationId: anyId, type: "track" },
      ...{ receivedAtMs, configOffset, body, event, restJson },
      ...{ originIncarnation: NO_TOPIC_GENERATION, originPartition: 0, originOffset: 1 },
    });
    const from = `${topics.names.deadLetters}/0/`;
    expect(first?.replay).toEqual({ id: expect.stringMatching(/^rpl_/), count: 1, from: `${from}0` });
    expect(seen.map(({ replay }) => replay?.from)).toEqual([0, 1, 2].map((offset) => `${from}${offset}`));
    expect((await replayed()) - before).toBe(seen.length);
  });

  it("goes to the dead URLs alone where each URL is on its own", async () => {
    expect(await replay({ reason: "rejected_by_receiver" })).toMatchObject({ state: "done", replayed: 1 });
    await eventually(() => expect(seen).toHaveLength(1));
    expect(seen[0]).toMatchObject({ key: `${eachId}:user-7`, urls: '["https://a.example/hook"]' });
  });

  it("can be of a time, of a kind, of messages and of places", async () => {
    const filters: readonly (readonly [object, number])[] = [
      [{ since: momentOf(2), until: momentOf(3) }, 1],
      [{ error: "503" }, 4],
      [{ error: "timeout" }, 0],
      [{ type: "track", sourceId: "src_1", userId: "user-7" }, 4],
      [{ userId: "user-8" }, 0],
      [{ event: "Order Completed" }, 4],
      [{ event: "Order" }, 0],
      [{ messageIds: ["message-2", "message-4", "message-5"] }, 2],
      [{ places: ["0:0", "1:0", "1:7"] }, 2],
    ];
    for (const [filter, matched] of filters) {
      expect((await plan({ again: true, ...filter })).body, JSON.stringify(filter)).toMatchObject({ matched });
    }
    expect(await replay({ since: momentOf(2), until: momentOf(3) })).toMatchObject({ matched: 1, replayed: 1 });
    await eventually(() => expect(seen.map(({ delivery }) => delivery.messageId)).toEqual(["message-2"]));
  });

  it("only counts under dryRun, and sends nothing when nothing matches", async () => {
    const dry = await plan({ again: true });
    expect([dry.status, dry.body]).toMatchObject([202, { id: null, matched: 4, leftOut: NONE_SKIPPED }]);
    expect(dry.body.plan).toMatch(/^rpl_/);
    expect(dry.body.samples).toHaveLength(3);
    // A plan holds for an hour from where its end is fixed.
    expect(Date.parse(dry.body.expiresAt) - Date.parse(dry.body.countedAt)).toBe(3_600_000);
    expect(dry.body.counts).toEqual([
      { destinationId: anyId, reason: "window_expired", error: "503", type: "track", count: 3 },
      { destinationId: eachId, reason: "rejected_by_receiver", error: "503", type: "track", count: 1 },
    ]);
    expect(await get(dry.body.plan)).toMatchObject({ state: "planned", startedAt: null });
    const none = await control.call("POST", "/v1/replays", { destinationId: "dst_none" });
    expect([none.status, none.body]).toMatchObject([202, { id: null, plan: null, matched: 0, counts: [] }]);
    expect(seen).toEqual([]);
  });

  it("that nobody asked for is not found, and a wrong reason is refused", async () => {
    expect((await control.call("GET", "/v1/replays/rpl_none")).status).toBe(404);
    expect((await control.call("POST", "/v1/replays", { plan: "rpl_none" })).status).toBe(404);
    const { status, body } = await control.call("POST", "/v1/replays", { reason: "bored" });
    expect([status, body.detail]).toEqual([400, expect.stringMatching(/^reason: expected one of /)]);
    const both = await control.call("POST", "/v1/replays", { plan: "rpl_none", reason: "suppressed" });
    expect([both.status, both.body.errors]).toMatchObject([400, [{ path: "reason" }]]);
  });
});

describe("what is left out", () => {
  it("is what a replay sent before, unless it is asked for again", async () => {
    const id = await createDestination("before");
    await deadLettersOf(id, 4);
    const first = await plan({ destinationId: id, messageIds: [`${id}-0`, `${id}-3`] });
    await control.call("POST", "/v1/replays", { plan: first.body.plan });
    expect(await ended(first.body.plan)).toMatchObject({ replayed: 2 });
    const rest = await plan({ destinationId: id });
    expect(rest.body).toMatchObject({ matched: 2, leftOut: { ...NONE_SKIPPED, replayedBefore: 2 } });
    expect((await plan({ destinationId: id, again: true })).body).toMatchObject({ matched: 4, leftOut: NONE_SKIPPED });
    const twice = await control.call("POST", "/v1/replays", { plan: first.body.plan });
    const detail = `${first.body.plan} is done and cannot be started: it was started before`;
    expect(twice).toMatchObject({ status: 409, body: { detail } });
  });

  it("is what was delivered since, of a destination that is off, or that there is no more", async () => {
    const id = await createDestination("since");
    await deadLettersOf(id, 4);
    const attempt = (n: number, after: number) => attemptAt(5 + after, { destinationId: id, messageId: `${id}-${n}` });
    await writer.attempts([attempt(0, 1), attempt(1, -1), { ...attempt(2, 1), outcome: "retryable" as const }]);
    await writer.attempts([attemptAt(6, { destinationId: "dst_other", messageId: `${id}-3` })]);
    await eventually(async () =>
      expect((await plan({ destinationId: id })).body).toMatchObject({ matched: 3, leftOut: { deliveredSince: 1 } }),
    );
    expect((await plan({ destinationId: id, again: true })).body.matched).toBe(4);
    await control.call("PATCH", `/v1/destinations/${id}`, { enabled: false });
    expect((await plan({ destinationId: id })).body).toMatchObject({ matched: 0, leftOut: { destinationOff: 4 } });
    await control.call("DELETE", `/v1/destinations/${id}`);
    expect((await plan({ destinationId: id })).body).toMatchObject({ matched: 0, leftOut: { destinationRemoved: 4 } });
  });

  it("where each URL is on its own, is what every dead URL took since", async () => {
    const id = await createDestination("each since", "each");
    const url = (name: string, status: number) => ({
      ...{ url: `https://${name}.example/hook`, status, error: null, durationMs: 1 },
    });
    const lastAttempt = [url("a", 503), url("b", 503)];
    await deadLettersOf(id, 2, { lastAttempt });
    const attempt = (n: number, ...urls: { url: string; status: number; error: null; durationMs: number }[]) =>
      attemptAt(6, {
        ...{ destinationId: id, messageId: `${id}-${n}`, outcome: "retryable" },
        urls: urls.map((each) => ({ ...each, answer: null })),
      });
    await writer.attempts([attempt(0, url("a", 200)), attempt(0, url("b", 200)), attempt(1, url("a", 200))]);
    await writer.attempts([attempt(1, url("b", 500))]);
    await eventually(async () =>
      expect((await plan({ destinationId: id })).body).toMatchObject({ matched: 1, leftOut: { deliveredSince: 1 } }),
    );
  });

  it("is judged again at sending, and what was counted and then not sent is told (Z6)", async () => {
    const id = await createDestination("later off");
    await deadLettersOf(id, 12);
    const planned = (await plan({ destinationId: id, ratePerSecond: 1 })).body.plan;
    await control.call("POST", "/v1/replays", { plan: planned });
    await eventually(async () => expect((await get(planned)).replayed).toBeGreaterThanOrEqual(1));
    await control.call("PATCH", `/v1/destinations/${id}`, { enabled: false });
    const done = await ended(planned);
    const { replayed, leftOut } = done as { replayed: number; leftOut: { destinationOff: number } };
    expect(done).toMatchObject({ state: "done", matched: 12, leftOutSince: { destinationOff: 12 - replayed } });
    expect([replayed < 12, leftOut.destinationOff]).toEqual([true, 12 - replayed]);
    // Dead letters that were not sent do not count as replayed.
    await control.call("PATCH", `/v1/destinations/${id}`, { enabled: true });
    const rest = (await plan({ destinationId: id })).body;
    expect(rest).toMatchObject({ matched: 12 - replayed, leftOut: { replayedBefore: replayed } });
  });

  it("tells what came of what it sent, and not of what was sent before", async () => {
    const destinationId = await createDestination("outcomes");
    await deadLettersOf(destinationId, 4);
    const { id } = (await control.call("POST", "/v1/replays", { destinationId })).body;
    expect(await ended(id)).toMatchObject({ replayed: 4, delivered: 0, failedAgain: 0 });
    const of = (n: number, replayId: string | null) => ({
      destinationId,
      messageId: `${destinationId}-${n}`,
      replayId,
    });
    await writer.attempts([attemptAt(6, of(0, id)), attemptAt(6, of(1, id)), attemptAt(6, of(2, null))]);
    await writer.deadLetters([deadLetterAt(7, of(3, id))]);
    await eventually(async () => expect(await get(id)).toMatchObject({ delivered: 2, failedAgain: 1 }));
    const listed = (await control.call("GET", "/v1/replays?limit=200")).body.data as readonly { readonly id: string }[];
    expect(listed.find((each) => each.id === id)).toMatchObject({ delivered: 2, failedAgain: 1 });
  });
});

describe("a plan", () => {
  it("is what is sent, whatever comes, goes on or off meanwhile (Z2)", async () => {
    const [on, off] = [await createDestination("on"), await createDestination("off")];
    await control.call("PATCH", `/v1/destinations/${off}`, { enabled: false });
    await deadLettersOf(on, 40);
    await deadLettersOf(off, 10);
    const counted = (await plan({ reason: "window_expired", until: momentOf(60) })).body;
    expect(counted.leftOut).toMatchObject({ destinationOff: expect.any(Number) });
    await deadLettersOf(on, 20, { messageId: "late" });
    await control.call("PATCH", `/v1/destinations/${off}`, { enabled: true });
    const started = await control.call("POST", "/v1/replays", { plan: counted.plan });
    expect(started.body).toMatchObject({ id: counted.plan, matched: counted.matched });
    await deadLettersOf(on, 20, { messageId: "later" });
    expect(await ended(counted.plan)).toMatchObject({ state: "done", replayed: counted.matched });
    await eventually(() => expect(seen).toHaveLength(counted.matched));
    expect(seen.filter(({ delivery }) => delivery.destinationId === off)).toEqual([]);
    expect(seen.filter(({ delivery }) => delivery.messageId.startsWith("late"))).toEqual([]);
    expect(seen.filter(({ delivery }) => delivery.destinationId === on)).toHaveLength(40);
  });
});

describe("a replay that runs", () => {
  it("keeps its rate, is paused, resumed and cancelled long before its end, and says how many went", async () => {
    const id = await createDestination("rate");
    // Half a minute, of which a few seconds are needed.
    const deadLetters = 1500;
    await deadLettersOf(id, deadLetters);
    const planned = (await plan({ destinationId: id, ratePerSecond: 1 })).body.plan;
    const act = (name: string) => control.call("POST", `/v1/replays/${planned}/${name}`);
    const early = await act("pause");
    expect([early.status, early.body.detail]).toEqual([
      409,
      `${planned} is planned and cannot be paused: it was not started yet`,
    ]);
    const startedMs = performance.now();
    await control.call("POST", "/v1/replays", { plan: planned, ratePerSecond: 50 });
    await eventually(() => expect(seen.length).toBeGreaterThanOrEqual(50), { intervalMs: 10 });
    // Never faster than its rate.
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual((seen.length / 50) * 1000 - 200);

    expect((await act("pause")).status).toBe(200);
    // It is told as paused from now on; how many went is written when its runner has come to that.
    const paused = await eventually(async () => {
      const replay = await get(planned);
      expect(replay).toMatchObject({ state: "paused", endedAt: null, ratePerSecond: 50, replayed: seen.length });
      return replay;
    });
    expect((await act("pause")).status).toBe(200);
    expect((await act("resume")).body.state).toMatch(/waiting|running/);
    await eventually(() => expect(seen.length).toBeGreaterThan(paused.replayed), { intervalMs: 10 });

    const cancelled = await cancel(planned);
    expect(cancelled.replayed).toBeLessThan(deadLetters);
    await eventually(() => expect(seen).toHaveLength(cancelled.replayed));
    const late = await act("resume");
    expect([late.status, late.body.detail]).toEqual([
      409,
      `${planned} is cancelled and cannot be resumed: it has ended`,
    ]);
    expect((await act("cancel")).status).toBe(200);
    expect((await plan({ destinationId: id })).body.matched).toBe(deadLetters - cancelled.replayed);
  });

  it("is cancelled while it waits for what it is to pass over (Z7)", async () => {
    const [wanted, other] = [await createDestination("wanted"), await createDestination("passed over")];
    await writer.deadLetters([1, 2, 3].map(() => deadLetterAt(6, { destinationId: other })));
    await writer.deadLetters([deadLetterAt(6, { destinationId: wanted })]);
    const planned = await eventually(async () => {
      const { body } = await plan({ destinationId: wanted });
      expect(body.matched).toBe(1);
      return body.plan;
    });
    registry.silence();
    try {
      await control.call("POST", "/v1/replays", { plan: planned });
      await eventually(() => expect(registry.asksInVain).toBeGreaterThan(1));
      expect(await cancel(planned)).toMatchObject({ replayed: 0, offsets: { passed: 0 } });
    } finally {
      registry.answer();
    }
  });

  it("lets others wait; a cancelled one ends at once, and a paused one stands in nobody's way (RR1)", async () => {
    const id = await createDestination("in turn");
    await deadLettersOf(id, 600);
    const start = async (messageIds: readonly string[], ratePerSecond?: number): Promise<string> => {
      const { body } = await plan({ destinationId: id, messageIds });
      return (await control.call("POST", "/v1/replays", { plan: body.plan, ratePerSecond })).body.id;
    };
    // It takes ten minutes, unless it is paused.
    const slow = await start(
      Array.from({ length: 598 }, (_, n) => `${id}-${n}`),
      1,
    );
    await eventually(async () => expect((await get(slow)).state).toBe("running"));
    const [second, third] = [await start([`${id}-598`]), await start([`${id}-599`])];
    expect((await get(second)).state).toBe("waiting");
    expect((await cancel(second)).replayed).toBe(0);
    expect((await get(slow)).state).toBe("running");
    await control.call("POST", `/v1/replays/${slow}/pause`);
    expect(await ended(third)).toMatchObject({ state: "done", replayed: 1 });
    expect((await get(slow)).state).toBe("paused");
    await cancel(slow);
    const { data } = (await control.call("GET", "/v1/replays?limit=200")).body;
    expect(data.slice(-3).map((each: { id: string; state: string }) => [each.id, each.state])).toEqual([
      [slow, "cancelled"],
      [second, "cancelled"],
      [third, "done"],
    ]);
  });

  it("is gone on with by another process where its own ends in order, and nothing goes twice (RR2)", async () => {
    const id = await createDestination("handed over");
    await deadLettersOf(id, 100);
    const planned = (await plan({ destinationId: id })).body.plan;
    await control.call("POST", "/v1/replays", { plan: planned, ratePerSecond: 20 });
    await eventually(() => expect(seen.length).toBeGreaterThan(10));
    await control.stop();
    // Not before: where the group gives the run to a process that joins, that is no end in order.
    control = await start();
    await eventually(async () => expect((await get(planned)).state).toMatch(/running|done/));
    expect(await ended(planned)).toMatchObject({ state: "done", matched: 100, replayed: 100, takeovers: 0 });
    await eventually(() => expect(seen).toHaveLength(100));
    expect(new Set(seen.map(({ delivery }) => delivery.messageId)).size).toBe(100);
  });
});
