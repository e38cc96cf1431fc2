import { encodeProgress } from "@posthaste/contracts/headers";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { replayedDelivery, replayedProgress } from "@posthaste/core/delivery/replay";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInstallation, type Installation, type TestDelivery } from "./installation.ts";

const DELAYS_MS = [300, 600];
/** The schedule ends, and the window does not while a test runs. */
const SCHEDULE = { delaysMs: DELAYS_MS, windowMs: 600_000 };

let installation: Installation;
let delivery: TestDelivery;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  installation = await createInstallation(DELAYS_MS);
  delivery = await installation.startDelivery({ schedule: SCHEDULE });
});

afterAll(async () => {
  await installation.remove();
  await receiver.close();
});

async function connect(id: string): Promise<number> {
  return installation.configure(id, { urls: [{ url: `${receiver.url}/${id}`, headers: {} }] });
}

/** The `count`th dead letter of this message, with its headers. */
async function deadLetterOf(messageId: string, count = 1) {
  return eventually(() => {
    const indexes = installation.deadLetters.flatMap((each, index) => (each.messageId === messageId ? [index] : []));
    const index = indexes[count - 1];
    const [deadLetter, headers] = [installation.deadLetters[index ?? -1], installation.deadLetterHeaders[index ?? -1]];
    if (deadLetter === undefined || headers === undefined) throw new Error(`no dead letter of ${messageId} yet`);
    return { deadLetter, headers };
  });
}

const attemptsAndStatuses = ({ history }: DeadLetter) =>
  history.map(({ attempt, replayId, urls }) => [attempt, replayId, urls.map(({ status, error }) => status ?? error)]);

describe("a dead letter", () => {
  it("says of every attempt when it was and what was answered, and the rest, in its headers too", async () => {
    receiver.script("/history", [{ status: 503 }, { status: 502 }, { status: 500 }]);
    const configOffset = await connect("history");
    const origin = { originIncarnation: 5, originPartition: 1, originOffset: 77 };
    const beside = { event: "Bought", restJson: '{"channel":"web"}' };
    const startedAtMs = Date.now();
    await installation.send([
      { messageId: "m-history", destinationId: "history", configOffset, user: "user:7", ...origin, ...beside },
    ]);
    const { deadLetter, headers } = await deadLetterOf("m-history");
    expect(attemptsAndStatuses(deadLetter)).toEqual([
      [1, null, [503]],
      [2, null, [502]],
      [3, null, [500]],
    ]);
    const times = deadLetter.history.map((each) => each.startedAtMs);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(deadLetter.firstAttemptAtMs).toBe(times[0]);
    expect(times[0]).toBeGreaterThanOrEqual(startedAtMs);
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(900);
    expect(deadLetter).toMatchObject({
      ...{ reason: "window_expired", reasonClass: "receiver", attempts: 3, userKey: "user:7", ...beside, ...origin },
      ...{ originTopic: installation.names.events, replayId: null, replays: 0, replayedFrom: null },
    });
    expect(headers).toEqual({
      ...{ reason: "window_expired", "reason-class": "receiver", "destination-id": "history", "source-id": "src_1" },
      ...{ "message-id": "m-history", type: "track", event: "Bought", "user-key": "user:7" },
      ...{ attempts: "3", deferrals: "0", statuses: "500", "received-at-ms": String(deadLetter.receivedAtMs) },
      ...{ "dead-at-ms": String(deadLetter.deadAtMs), "window-start-ms": String(deadLetter.windowStartMs) },
      ...{ "first-attempt-at-ms": String(times[0]), "origin-topic": installation.names.events },
      ...{ "origin-partition": "1", "origin-offset": "77" },
    });
  });

  it("W2: keeps the history of a process that was stopped, whoever makes the other attempts", async () => {
    receiver.script("/takeover", { status: 503 });
    const configOffset = await connect("takeover");
    const first = await installation.startDelivery({ schedule: SCHEDULE });
    await delivery.stop();
    await installation.send([{ messageId: "m-takeover", destinationId: "takeover", configOffset }]);
    await eventually(() => expect(receiver.requestsTo("/takeover").length).toBeGreaterThan(0));
    delivery = await installation.startDelivery({ schedule: SCHEDULE });
    await first.stop();
    const { deadLetter } = await deadLetterOf("m-takeover");
    expect(attemptsAndStatuses(deadLetter)).toEqual([
      [1, null, [503]],
      [2, null, [503]],
      [3, null, [503]],
    ]);
  });

  it("W2: that was replayed and died again names the replay and its place, and has both attempts", async () => {
    receiver.script("/again", [{ status: 410 }, { status: 503 }, { status: 410 }]);
    const configOffset = await connect("again");
    await installation.send([{ messageId: "m-again", destinationId: "again", configOffset, originOffset: 4 }]);
    const { deadLetter: first } = await deadLetterOf("m-again");
    const from = `${installation.names.deadLetters}/0/12`;
    const value = installation.encode({ ...replayedDelivery(first), messageId: "m-again" });
    const progress = replayedProgress(first, { replayId: "rpl_1", from, urls: null });
    await installation.sendRaw(installation.names.deliveries, value, encodeProgress(progress));
    const { deadLetter, headers } = await deadLetterOf("m-again", 2);
    expect(attemptsAndStatuses(deadLetter)).toEqual([
      [1, null, [410]],
      [1, "rpl_1", [503]],
      [2, "rpl_1", [410]],
    ]);
    expect(deadLetter).toMatchObject({
      ...{ attempts: 2, replayId: "rpl_1", replays: 1, replayedFrom: from, reasonClass: "configuration" },
      ...{ originTopic: installation.names.events, originOffset: 4, firstAttemptAtMs: first.firstAttemptAtMs },
    });
    expect(headers).toMatchObject({ "replay-id": "rpl_1", replays: "1", "replayed-from": from, "origin-offset": "4" });
  });
});
