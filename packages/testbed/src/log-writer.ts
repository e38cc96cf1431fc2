/** Writes attempts and dead letters as delivery does. */
import type { RejectedCalls } from "@posthaste/core/call/rejected-call";
import type { SourceActivity } from "@posthaste/core/call/source-activity";
import type { AttemptBatch, AttemptRecord, DeferralRecord } from "@posthaste/core/delivery/attempt-record";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { UnroutedEvents } from "@posthaste/core/routing/unrouted-event";
import type { TestTopics } from "./test-topics.ts";

export interface LogWriter {
  /** The attempts of one flush, in one record. */
  readonly attempts: (attempts: readonly AttemptRecord[], partition?: number) => Promise<void>;
  /** First deferrals, in one record. */
  readonly deferrals: (deferrals: readonly DeferralRecord[]) => Promise<void>;
  /** Events that became no delivery, as the router writes them. */
  readonly unrouted: (events: UnroutedEvents) => Promise<void>;
  /** Calls that were not accepted, as ingest writes them. */
  readonly rejectedCalls: (calls: RejectedCalls) => Promise<void>;
  /** What one process of ingest counted of a source. */
  readonly activity: (activity: SourceActivity) => Promise<void>;
  /** As of `user`, user-7 by default. */
  readonly deadLetters: (deadLetters: readonly DeadLetter[], partition?: number, user?: string) => Promise<void>;
  /** Bytes that are no attempts. */
  readonly rubbish: () => Promise<void>;
  /** A batch of attempts among the dead letters: of another schema that the registry knows. */
  readonly strayDeadLetter: () => Promise<void>;
}

export async function createLogWriter({ names, openCodec, producer }: TestTopics): Promise<LogWriter> {
  const [attemptCodec, deadLetterCodec, unroutedCodec, rejectedCodec, activityCodec] = await Promise.all([
    openCodec<AttemptBatch>("attempt-batch"),
    openCodec<DeadLetter>("dead-letter"),
    openCodec<UnroutedEvents>("unrouted-events"),
    openCodec<RejectedCalls>("rejected-calls"),
    openCodec<SourceActivity>("source-activity"),
  ]);
  return {
    attempts: (attempts, partition = 0) =>
      producer.send([
        { topic: names.attempts, key: null, value: attemptCodec.encode({ attempts, deferrals: [] }), partition },
      ]),
    deferrals: (deferrals) =>
      producer.send([
        { topic: names.attempts, key: null, value: attemptCodec.encode({ attempts: [], deferrals }), partition: 0 },
      ]),
    unrouted: (events) =>
      producer.send([
        { topic: names.unrouted, key: events.sourceId, value: unroutedCodec.encode(events), partition: 0 },
      ]),
    rejectedCalls: (calls) =>
      producer.send([
        { topic: names.rejectedCalls, key: calls.sourceId, value: rejectedCodec.encode(calls), partition: 0 },
      ]),
    activity: (activity) =>
      producer.send([
        { topic: names.sourceActivity, key: activity.sourceId, value: activityCodec.encode(activity), partition: 0 },
      ]),
    deadLetters: (deadLetters, partition = 0, user = "user-7") =>
      producer.send(
        deadLetters.map((deadLetter) => ({
          topic: names.deadLetters,
          key: `${deadLetter.destinationId}:${user}`,
          value: deadLetterCodec.encode(deadLetter),
          partition,
        })),
      ),
    strayDeadLetter: () =>
      producer.send([
        {
          topic: names.deadLetters,
          key: null,
          value: attemptCodec.encode({ attempts: [], deferrals: [] }),
          partition: 0,
        },
      ]),
    rubbish: () => producer.send([{ topic: names.attempts, key: null, value: Buffer.from("no batch"), partition: 0 }]),
  };
}

const START_MS = Date.now() - 60_000;

/** An attempt that was delivered at once; `n` seconds into the last minute. */
export function attemptAt(n: number, differing: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    messageId: `message-${n}`,
    sourceId: "src_1",
    destinationId: "dst_1",
    type: "track",
    receivedAtMs: START_MS + n * 1000 - 250,
    userKey: "user-7",
    event: "Order Completed",
    originPartition: 1,
    originOffset: n,
    configOffset: 4,
    recordDelayMs: 0,
    recordPartition: 2,
    recordOffset: 100 + n,
    recordTimestampMs: START_MS + n * 1000 - 200,
    deferrals: 0,
    replayId: null,
    attempt: 1,
    startedAtMs: START_MS + n * 1000,
    outcome: "delivered",
    urls: [{ url: "https://a.example/hook", status: 200, error: null, durationMs: 12.345, answer: "ok" }],
    followUps: [],
    bodyBytes: 412,
    ...differing,
  };
}

/** The first deferral of a delivery that was never attempted. */
export function deferralAt(n: number, differing: Partial<DeferralRecord> = {}): DeferralRecord {
  const made = attemptAt(n);
  const { attempt: _, startedAtMs, outcome: __, urls: ___, followUps: ____, bodyBytes: _____, ...delivery } = made;
  return {
    ...delivery,
    attempts: 0,
    deferredAtMs: startedAtMs,
    cause: "breaker_open",
    urls: null,
    delayMs: 10_000,
    dueAtMs: startedAtMs + 10_000,
    deadlineMs: startedAtMs + 14_400_000,
    ...differing,
  };
}

/** A dead letter of `n` seconds into the last minute. */
export function deadLetterAt(n: number, differing: Partial<DeadLetter> = {}): DeadLetter {
  return {
    messageId: `message-${n}`,
    sourceId: "src_1",
    destinationId: "dst_1",
    type: "track",
    receivedAtMs: START_MS,
    configOffset: 0,
    originIncarnation: 1,
    originPartition: 0,
    originOffset: n,
    body: Buffer.from(`{"n":${n}}`),
    event: "Order Completed",
    restJson: null,
    reason: "window_expired",
    reasonClass: "receiver",
    deadAtMs: START_MS + n * 1000,
    attempts: 3,
    deferrals: 1,
    windowStartMs: START_MS,
    lastAttempt: [{ url: "https://a.example/hook", status: 503, error: null, durationMs: 5.06 }],
    userKey: "user-7",
    firstAttemptAtMs: START_MS,
    history: [],
    originTopic: "posthaste.events",
    replayId: null,
    replays: 0,
    replayedFrom: null,
    ...differing,
  };
}

/** The moment of `attemptAt(n)` and `deadLetterAt(n)`, as the API has it. */
export function momentOf(n: number): string {
  return new Date(START_MS + n * 1000).toISOString();
}
