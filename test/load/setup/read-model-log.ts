/** Attempts and dead letters as delivery writes them, of many destinations, a million and more. */
import type { AttemptBatch, AttemptRecord } from "@posthaste/core/delivery/attempt-record";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { SILENT_LOG } from "@posthaste/core/log";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { createProducer, type OutgoingRecord } from "@posthaste/kafka/producer/producer";
import { eventually } from "@posthaste/testkit/eventually";
import type { Installation } from "../../e2e/installation.ts";

export const LOGGED_USERS = 500;
export const LOGGED_EVENT = "Order Completed";
/** As many as delivery packs into a record under load. */
const BATCH = 200;
const STEP = 1000;
/** Of the attempts, one in so many failed. */
const FAILED = 5;

export interface WrittenLog {
  readonly kind: "attempts" | "letters";
  readonly count: number;
  /** In turns. */
  readonly destinationIds: readonly string[];
}

/** Resolves when the brokers have them; the newest is of now. */
export async function writeLog(
  { names, system }: Installation,
  { kind, count, destinationIds }: WrittenLog,
): Promise<void> {
  const connection = connectKafka({ brokers: system.stack.brokers, clientId: "log", log: SILENT_LOG });
  const openCodec = createOpenCodec({ url: system.stack.schemaRegistry, names });
  const [attempts, deadLetters] = [
    await openCodec<AttemptBatch>("attempt-batch"),
    await openCodec<DeadLetter>("dead-letter"),
  ];
  const producer = await createProducer(connection, { name: "log", topics: [names.attempts, names.deadLetters] });
  const startMs = Date.now() - count;
  const destinationOf = (n: number) => destinationIds[n % destinationIds.length] ?? "";
  const numbered = (from: number, size: number) =>
    Array.from({ length: Math.min(size, count - from) }, (_, n) => from + n);
  const packed = (from: number): OutgoingRecord => {
    const batch = numbered(from, BATCH).map((n) => attempt(n, startMs + n, destinationOf(n)));
    return { topic: names.attempts, key: null, value: attempts.encode({ attempts: batch, deferrals: [] }) };
  };
  const single = (n: number): OutgoingRecord => {
    const id = destinationOf(n);
    const value = deadLetters.encode({ ...deadLetter(n, startMs + n, id), originTopic: names.events });
    return { topic: names.deadLetters, key: `${id}:user-${n % LOGGED_USERS}`, value };
  };
  for (let from = 0; from < count; from += STEP) {
    const step = numbered(from, STEP);
    await producer.send(
      kind === "letters" ? step.map(single) : step.filter((n) => n % BATCH === 0).map((first) => packed(first)),
    );
  }
  await producer.close();
  await connection.close();
}

/** Waits until control has read all that stood in the list's topics at that moment, ms since the epoch. */
export async function readTo({ control }: Installation, list: string, atMs: number): Promise<void> {
  await eventually(
    async () => {
      const { asOf } = (await control.call("GET", `${list}?limit=1`)) as { asOf: string | null };
      if (asOf === null || Date.parse(asOf) < atMs) throw new Error("it is still being read");
    },
    { timeoutMs: 900_000, intervalMs: 500 },
  );
}

function attempt(n: number, startedAtMs: number, destinationId: string): AttemptRecord {
  const isFailed = n % FAILED === 0;
  const retry = { delayMs: 300_000, dueAtMs: startedAtMs + 300_000, deadlineMs: startedAtMs + 14_400_000 };
  return {
    ...{ messageId: `attempt-${n}`, sourceId: "src_0000000000000001", destinationId, type: "track" },
    ...{ receivedAtMs: startedAtMs - 20, userKey: `user-${n % LOGGED_USERS}`, event: LOGGED_EVENT },
    ...{ originPartition: n % 6, originOffset: n, configOffset: 4, recordDelayMs: 0, recordPartition: n % 6 },
    ...{ recordOffset: n, recordTimestampMs: startedAtMs - 5, deferrals: 0, replayId: null, attempt: 1, startedAtMs },
    outcome: isFailed ? "retryable" : "delivered",
    urls: [
      {
        ...{ url: "https://receiver.example/hooks/posthaste", durationMs: 41.2, error: null },
        ...(isFailed ? { status: 503, answer: "the service is not available" } : { status: 200, answer: null }),
      },
    ],
    followUps: isFailed ? [{ kind: "retry", urls: null, ...retry, reason: null }] : [],
    bodyBytes: 412,
  };
}

function deadLetter(n: number, deadAtMs: number, destinationId: string): Omit<DeadLetter, "originTopic"> {
  const url = { url: "https://receiver.example/hooks/posthaste", status: 503, error: null, durationMs: 41.2 };
  return {
    ...{ messageId: `letter-${n}`, sourceId: "src_0000000000000001", destinationId, type: "track" },
    ...{ receivedAtMs: deadAtMs - 14_400_000, configOffset: 4, originIncarnation: 1, originPartition: n % 6 },
    ...{ originOffset: n, body: Buffer.from(JSON.stringify({ type: "track", n, filler: "x".repeat(100) })) },
    ...{ event: LOGGED_EVENT, restJson: null, userKey: `user-${n % LOGGED_USERS}`, reason: "window_expired" },
    ...{ reasonClass: "receiver", deadAtMs, attempts: 9, deferrals: 0, windowStartMs: null, firstAttemptAtMs: null },
    ...{ history: [], lastAttempt: [url], replayId: null, replays: 0, replayedFrom: null },
  };
}
