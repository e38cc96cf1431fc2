/**
 * The events topic's log id: which incarnation of the log an offset belongs to (origins, rules D1 to D3). It stands in the
 * meta topic, as text.
 */
import { EVENTS_LOG_ID_KEY, type TopicNames } from "@posthaste/contracts/topics";
import { PosthasteError } from "@posthaste/core/errors";
import type { KafkaConnection } from "./connect.ts";
import { createProducer } from "./producer.ts";
import { createTable } from "./table.ts";

/** Null when none was made. Rejects with `topic_missing` when there is no meta topic. */
export async function findLogId(connection: KafkaConnection, names: TopicNames): Promise<number | null> {
  const table = await createTable(connection, { topic: names.meta, decode: decodeLogId });
  try {
    await table.caughtUp();
    return table.get(EVENTS_LOG_ID_KEY) ?? null;
  } finally {
    await table.close();
  }
}

/**
 * Writes a higher log id and answers it; for whoever makes the events topic or resets the router's offsets. It follows the
 * time in seconds, so that it rises even when the meta topic was lost with the events.
 */
export async function raiseLogId(
  connection: KafkaConnection,
  names: TopicNames,
  nowMs: number = Date.now(),
): Promise<number> {
  const previous = (await findLogId(connection, names)) ?? 0;
  const logId = Math.max(previous + 1, Math.floor(nowMs / 1000));
  const producer = await createProducer(connection, { name: "topics", topics: [names.meta] });
  try {
    await producer.send([{ topic: names.meta, key: EVENTS_LOG_ID_KEY, value: Buffer.from(String(logId)) }]);
  } finally {
    await producer.close();
  }
  return logId;
}

function decodeLogId(bytes: Buffer): number {
  const logId = Number(bytes.toString());
  if (Number.isSafeInteger(logId)) return logId;
  throw new PosthasteError("invalid_input", "a log id is no whole number");
}
