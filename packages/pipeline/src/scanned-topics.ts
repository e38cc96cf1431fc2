/** Finds a message id in the records of each topic. The finds hold places and ids, and nothing about the user. */
import type { Codec, OpenCodec } from "@posthaste/contracts/codec";
import { delayMsFromRetryTopic, type TopicNames } from "@posthaste/contracts/topics";
import type { RejectedCalls } from "@posthaste/core/call/rejected-call";
import type { AttemptBatch } from "@posthaste/core/delivery/attempt-record";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { Event } from "@posthaste/core/event/event";
import { shortName } from "@posthaste/core/routing/short-name";
import type { UnroutedEvents } from "@posthaste/core/routing/unrouted-event";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { decodedRecord } from "./decoded-record.ts";

const FIND_KINDS = [
  "event",
  "delivery",
  "retry",
  "attempt",
  "deferral",
  "dead_letter",
  "unrouted",
  "rejected_call",
] as const;

export interface ScanFind {
  readonly what: (typeof FIND_KINDS)[number];
  readonly atMs: number;
  readonly sourceId: string;
  /** Null for a find that concerns the event as a whole. */
  readonly destinationId: string | null;
  /** A few words more; null where there are none. */
  readonly detail: string | null;
}

export interface ScannedTopic {
  readonly topic: string;
  /** Returns the facts about the message id in a record. */
  readonly finds: (
    record: Pick<IncomingRecord, "value" | "timestampMs">,
    messageId: string,
  ) => Promise<readonly ScanFind[]>;
}

export interface ScannedTopicsOptions {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly names: TopicNames;
}

type Finds = ScannedTopic["finds"];

const ofEvents =
  (codec: Codec<Event>): Finds =>
  async ({ value }, messageId) => {
    const found = await decodedRecord(codec, value);
    if (found?.messageId !== messageId) return [];
    const { sourceId, receivedAtMs: atMs, type } = found;
    return [{ what: "event", atMs, sourceId, destinationId: null, detail: type }];
  };

const ofDeliveries =
  (codec: Codec<Delivery>, what: "delivery" | "retry"): Finds =>
  async ({ value, timestampMs: atMs }, messageId) => {
    const found = await decodedRecord(codec, value);
    if (found?.messageId !== messageId) return [];
    const { sourceId, destinationId } = found;
    return [{ what, atMs, sourceId, destinationId, detail: null }];
  };

const ofAttempts =
  (codec: Codec<AttemptBatch>): Finds =>
  async ({ value }, messageId) => {
    const { attempts, deferrals } = (await decodedRecord(codec, value)) ?? { attempts: [], deferrals: [] };
    const isOf = (each: { readonly messageId: string }) => each.messageId === messageId;
    return [
      ...attempts.filter(isOf).map(({ startedAtMs: atMs, sourceId, destinationId, attempt, outcome }) => {
        return { what: "attempt" as const, atMs, sourceId, destinationId, detail: `try ${attempt}, ${outcome}` };
      }),
      ...deferrals.filter(isOf).map(({ deferredAtMs: atMs, sourceId, destinationId, cause }) => {
        return { what: "deferral" as const, atMs, sourceId, destinationId, detail: cause };
      }),
    ];
  };

const ofLetters =
  (codec: Codec<DeadLetter>): Finds =>
  async ({ value }, messageId) => {
    const found = await decodedRecord(codec, value);
    if (found?.messageId !== messageId) return [];
    const { deadAtMs: atMs, sourceId, destinationId, reason } = found;
    return [{ what: "dead_letter", atMs, sourceId, destinationId, detail: reason }];
  };

const ofUnrouted =
  (codec: Codec<UnroutedEvents>): Finds =>
  async ({ value }, messageId) => {
    const found = await decodedRecord(codec, value);
    if (found === null) return [];
    const { unroutedAtMs: atMs, sourceId, events } = found;
    return events
      .filter((each) => each.messageId === messageId)
      .map(({ cause }) => ({ what: "unrouted", atMs, sourceId, destinationId: null, detail: cause }));
  };

const ofRejectedCalls =
  (codec: Codec<RejectedCalls>): Finds =>
  async ({ value }, messageId) => {
    const found = await decodedRecord(codec, value);
    if (found === null) return [];
    const { sourceId, calls } = found;
    // Ingest shortens the message id of a call that it rejects.
    return calls
      .filter((each) => each.messageId === shortName(messageId))
      .map(({ rejectedAtMs: atMs, code }) => {
        return { what: "rejected_call", atMs, sourceId, destinationId: null, detail: code };
      });
  };

/** The topics in the order in which an event passes through them, with the retry topics that exist. */
export async function openScannedTopics({ connection, openCodec, names }: ScannedTopicsOptions) {
  const [events, deliveries, attempts, deadLetters, unrouted, rejected] = await Promise.all([
    openCodec<Event>("event"),
    openCodec<Delivery>("delivery"),
    openCodec<AttemptBatch>("attempt-batch"),
    openCodec<DeadLetter>("dead-letter"),
    openCodec<UnroutedEvents>("unrouted-events"),
    openCodec<RejectedCalls>("rejected-calls"),
  ]);
  const retried = ofDeliveries(deliveries, "retry");
  const before = [
    { topic: names.events, finds: ofEvents(events) },
    { topic: names.deliveries, finds: ofDeliveries(deliveries, "delivery") },
  ];
  const after = [
    { topic: names.attempts, finds: ofAttempts(attempts) },
    { topic: names.deadLetters, finds: ofLetters(deadLetters) },
    { topic: names.unrouted, finds: ofUnrouted(unrouted) },
    { topic: names.rejectedCalls, finds: ofRejectedCalls(rejected) },
  ];
  return async (): Promise<readonly ScannedTopic[]> => {
    const all = await connection.withAdmin((admin) => admin.listTopics());
    const retries = all.filter((topic) => delayMsFromRetryTopic(names, topic) !== null);
    retries.sort((a, b) => (delayMsFromRetryTopic(names, a) ?? 0) - (delayMsFromRetryTopic(names, b) ?? 0));
    return [...before, ...retries.map((topic) => ({ topic, finds: retried })), ...after];
  };
}
