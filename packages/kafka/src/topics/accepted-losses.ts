/** Reads the accepted losses from the meta topic. */
import { type AcceptedLoss, decodeAcceptedLoss } from "@posthaste/contracts/accepted-loss";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { KafkaConnection } from "../connection/connect.ts";
import { createTable, type Table, type TableOptions } from "../log/table.ts";

/** All accepted losses so far. Waits for brokers. Rejects with `topic_missing` when the meta topic does not exist. */
export async function readAcceptedLosses(
  connection: KafkaConnection,
  names: TopicNames,
): Promise<readonly AcceptedLoss[]> {
  const table = await openMetaTable(connection, names);
  try {
    await table.caughtUp();
    return acceptedLossesIn(table);
  } finally {
    await table.close();
  }
}

/** The table of the meta topic's facts, as text. */
export function openMetaTable(
  connection: KafkaConnection,
  names: TopicNames,
  options: Pick<TableOptions<string>, "onFailure"> = {},
): Promise<Table<string>> {
  return createTable(connection, { topic: names.meta, decode: String, ...options });
}

export function acceptedLossesIn(table: Pick<Table<string>, "entries">): readonly AcceptedLoss[] {
  return [...table.entries()].flatMap(([key, text]) => decodeAcceptedLoss(key, text) ?? []);
}
