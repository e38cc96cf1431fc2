import type { Codec } from "@posthaste/contracts/codec";
import { createTopicNames } from "@posthaste/contracts/topics";
import { addAttempt } from "@posthaste/core/delivery/attempt-history";
import { DEAD_LETTER_REASONS, type DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { type Delivery, NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { NO_TOPIC_GENERATION } from "@posthaste/core/delivery/origin";
import { PosthasteError } from "@posthaste/core/errors";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { Registry } from "prom-client";
import { beforeEach, describe, expect, it } from "vitest";
import type { IncomingDelivery } from "../intake/incoming-delivery.ts";
import { createDeliveryMetrics, type DeliveryMetrics } from "../metrics.ts";
import type { FollowUp } from "./follow-ups.ts";
import { OutcomePublisher } from "./outcome-publisher.ts";

const names = createTopicNames("posthaste");
const delivery: Delivery = {
  ...{ messageId: "m", sourceId: "src", destinationId: "dst", type: "track", receivedAtMs: 3, configOffset: 1 },
  ...{ originIncarnation: 9, originPartition: 2, originOffset: 41, body: Buffer.from("{}"), event: "Bought" },
  restJson: '{"channel":"server"}',
};
const url = { url: "https://a.example/", status: 503, error: null, durationMs: 2.5 };
const failed = addAttempt(NO_PROGRESS, { startedAtMs: 11, urls: [url] });
const retry: FollowUp = { kind: "retry", delayMs: 10_000, progress: { ...NO_PROGRESS, attempts: 1 } };
const deadLetter: FollowUp = {
  kind: "dead_letter",
  reason: "window_expired",
  progress: { ...failed, attempts: 1, deferrals: 2, windowStartMs: 5 },
  delivery,
  lastAttempt: [url],
};
const key = Buffer.from("dst:user");
const value = Buffer.from("a delivery");

let sent: OutgoingRecord[][];
let encoded: DeadLetter[];
let acknowledged: PromiseWithResolvers<void>;
let failures: Error[];
let finished: number;
let metrics: DeliveryMetrics;
let registry: Registry;
let publisher: OutcomePublisher;

const task = (isRevoked = false, traceparent?: string) =>
  ({
    item: { traceparent },
    record: { topic: "posthaste.deliveries", partition: 3, offset: 41, key, value },
    window: { isRevoked },
    finish: () => {
      finished += 1;
    },
  }) as unknown as Task<IncomingDelivery>;

const settled = () => new Promise((resolve) => setImmediate(resolve));
const deadLettersCounted = async () =>
  (await metrics.deadLetters.get()).values.find(({ labels }) => labels.reason === "window_expired")?.value;

beforeEach(() => {
  sent = [];
  encoded = [];
  failures = [];
  finished = 0;
  acknowledged = Promise.withResolvers();
  registry = new Registry();
  metrics = createDeliveryMetrics(registry, []);
  const codec = { encode: (dead: DeadLetter) => Buffer.from([encoded.push(dead)]) } as Codec<DeadLetter>;
  const producer = {
    send: (records: OutgoingRecord[]) => {
      sent.push(records);
      return acknowledged.promise;
    },
  } as unknown as Producer;
  const onFailure = (reason: Error) => failures.push(reason);
  publisher = new OutcomePublisher({ names, producer, codec, metrics, nowMs: () => 77, onFailure });
});

describe("what follows a delivery", () => {
  it("C2, F1: finishes its record when the brokers have it, and not before", async () => {
    publisher.publish(task(), [retry, deadLetter]);
    await settled();
    expect([sent.length, finished, await deadLettersCounted()]).toEqual([1, 0, 0]);
    acknowledged.resolve();
    await settled();
    expect([finished, await deadLettersCounted()]).toEqual([1, 1]);
    // The retry beside it counts for none.
    expect((await metrics.deadLetters.get()).values).toHaveLength(DEAD_LETTER_REASONS.length);
  });

  it("C2: leaves its record unfinished when it cannot be published, which is a bug", async () => {
    publisher.publish(task(), [deadLetter]);
    const reason = new PosthasteError("internal", "too large");
    acknowledged.reject(reason);
    await settled();
    expect([finished, failures, await deadLettersCounted()]).toEqual([0, [reason], 0]);
  });

  it("F1: leaves its record to be read again when the process is ending, and that is no failure", async () => {
    publisher.publish(task(), [retry]);
    acknowledged.reject(new PosthasteError("closed", "the producer is closed"));
    await settled();
    expect([finished, failures]).toEqual([0, []]);
  });

  it("F3: is published no more when its partition was given up", async () => {
    publisher.publish(task(true), [retry, deadLetter]);
    acknowledged.resolve();
    await settled();
    expect([sent, finished, await deadLettersCounted()]).toEqual([[], 0, 0]);
  });

  it("F2, W2, W6: is the record itself in its delay's topic, with what it has been through and its origin", () => {
    publisher.publish(task(), [retry, { ...retry, delayMs: 60_000 }]);
    expect(sent).toEqual([
      [
        {
          topic: "posthaste.deliveries.retry-10s",
          ...{ key, value },
          headers: { attempts: "1", "republished-from": "posthaste.deliveries/3/41/0", "republished-at-ms": "77" },
        },
        {
          topic: "posthaste.deliveries.retry-1m",
          ...{ key, value },
          headers: { attempts: "1", "republished-from": "posthaste.deliveries/3/41/1", "republished-at-ms": "77" },
        },
      ],
    ]);
    expect(sent[0]?.[0]?.value).toBe(value);
  });

  it("F2: carries the trace of the delivery on, in retries and dead letters", () => {
    publisher.publish(task(false, "00-a-b-01"), [retry, deadLetter]);
    expect(sent[0]?.map(({ headers }) => headers)).toMatchObject([
      { traceparent: "00-a-b-01", attempts: "1" },
      { traceparent: "00-a-b-01", reason: "window_expired" },
    ]);
  });

  it("is a dead letter with the delivery, the reason and what it has been through, in its headers too", () => {
    publisher.publish(task(), [deadLetter]);
    const [[dead]] = sent as [[OutgoingRecord]];
    expect([dead.topic, dead.key]).toEqual([names.deadLetters, key]);
    expect(encoded).toEqual([
      {
        ...delivery,
        ...{ reason: "window_expired", reasonClass: "receiver", deadAtMs: 77, attempts: 1, deferrals: 2 },
        ...{ windowStartMs: 5, lastAttempt: [url], userKey: "user", firstAttemptAtMs: 11 },
        history: [{ attempt: 1, replayId: null, startedAtMs: 11, urls: [url] }],
        ...{ originTopic: names.events, replayId: null, replays: 0, replayedFrom: null },
      },
    ]);
    expect(dead.headers).toEqual({
      ...{ reason: "window_expired", "reason-class": "receiver", "destination-id": "dst", "source-id": "src" },
      ...{ "message-id": "m", type: "track", "received-at-ms": "3", "dead-at-ms": "77", attempts: "1" },
      ...{ deferrals: "2", event: "Bought", "user-key": "user", "window-start-ms": "5", statuses: "503" },
      ...{ "first-attempt-at-ms": "11", "origin-topic": names.events, "origin-partition": "2" },
      "origin-offset": "41",
    });
  });

  it("is a dead letter that says of which replay it is, and where it came from where the replay knew", () => {
    const replay = { id: "rpl_1", count: 2, from: "posthaste.dead-letters/0/7" };
    const progress = { ...deadLetter.progress, replay };
    const replayed = { ...delivery, originIncarnation: NO_TOPIC_GENERATION };
    publisher.publish(task(), [{ ...deadLetter, progress, delivery: replayed }]);
    publisher.publish(task(), [{ ...deadLetter, delivery: replayed }]);
    const said = { replayId: "rpl_1", replays: 2, replayedFrom: replay.from };
    const unsaid = { replayId: null, replays: 0, replayedFrom: null };
    expect(encoded).toMatchObject([
      { originTopic: names.events, originOffset: 41, ...said },
      { originTopic: null, ...unsaid },
    ]);
    expect(sent[0]?.[0]?.headers).toMatchObject({ "replay-id": "rpl_1", replays: "2", "replayed-from": replay.from });
    expect(sent[1]?.[0]?.headers).not.toHaveProperty("origin-topic");
  });

  it("says nothing of the user in a dead letter that a deletion asked for", () => {
    publisher.publish(task(), [{ ...deadLetter, reason: "suppressed" }]);
    expect(encoded).toMatchObject([{ reason: "suppressed", reasonClass: "configuration", userKey: null }]);
    expect(sent[0]?.[0]?.headers).not.toHaveProperty("user-key");
  });

  it("W6: is named by its topic's own id where that is known, since another topic may come to have its name", () => {
    const known = task();
    publisher.publish({ ...known, window: { ...known.window, topicId: "T1" } } as typeof known, [retry]);
    expect(sent[0]?.[0]?.headers).toMatchObject({ "republished-from": "T1/3/41/0" });
  });

  it("is a dead letter that says when it was tried first, or nothing where its history has lost that", () => {
    publisher.publish(task(), [deadLetter]);
    const later = addAttempt({ ...NO_PROGRESS, attempts: 3 }, { startedAtMs: 12, urls: [url] });
    publisher.publish(task(), [{ ...deadLetter, progress: later }]);
    expect(encoded.map(({ firstAttemptAtMs }) => firstAttemptAtMs)).toEqual([11, null]);
  });
});
