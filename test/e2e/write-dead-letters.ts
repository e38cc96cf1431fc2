/** Dead letters as delivery writes them, many at a time, for tests of their fate. */
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { SILENT_LOG } from "@posthaste/core/log";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { createProducer } from "@posthaste/kafka/producer/producer";
import type { Installation } from "./installation.ts";

const USERS = 500;
const STEP = 1000;

export interface WrittenDeadLetters {
  readonly destinationId: string;
  readonly sourceId: string;
  /** The prefix of the message ids; a hyphen and a number follow. */
  readonly name: string;
  readonly count: number;
}

/** Resolves when the brokers have them; a user's dead letters are in order. */
export async function writeDeadLetters({ names, system }: Installation, written: WrittenDeadLetters): Promise<void> {
  const { destinationId, sourceId, name, count } = written;
  const connection = connectKafka({ brokers: system.stack.brokers, clientId: "letters", log: SILENT_LOG });
  const codec = await createOpenCodec({ url: system.stack.schemaRegistry, names })<DeadLetter>("dead-letter");
  const producer = await createProducer(connection, { name: "letters", topics: [names.deadLetters] });
  const deadLetter = (index: number): DeadLetter => ({
    ...{ messageId: `${name}-${index}`, sourceId, destinationId, type: "track", receivedAtMs: Date.now() },
    ...{ configOffset: 0, originIncarnation: 1, originPartition: 0, originOffset: index, originTopic: names.events },
    ...{ body: Buffer.from(JSON.stringify({ type: "track", index, filler: "x".repeat(400) })), event: "Ordered" },
    ...{ restJson: null, userKey: `user-${index % USERS}`, reason: "window_expired", reasonClass: "receiver" },
    ...{ deadAtMs: Date.now(), attempts: 9, deferrals: 0, windowStartMs: null, firstAttemptAtMs: null, history: [] },
    lastAttempt: [{ url: "https://a.example/hook", status: 503, error: null, durationMs: 5 }],
    ...{ replayId: null, replays: 0, replayedFrom: null },
  });
  for (let from = 0; from < count; from += STEP) {
    const records = Array.from({ length: Math.min(STEP, count - from) }, (_, index) => ({
      topic: names.deadLetters,
      key: `${destinationId}:user-${(from + index) % USERS}`,
      value: codec.encode(deadLetter(from + index)),
    }));
    await producer.send(records);
  }
  await producer.close();
  await connection.close();
}
