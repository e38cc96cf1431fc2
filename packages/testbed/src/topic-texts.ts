/** The content of a topic, as the bytes' own text: for texts that must not be in it. */
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { readRange } from "@posthaste/kafka/log/read-range";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

/** Key, headers and value of every record that stands in the topic now. */
export async function topicTexts(
  { connection }: { readonly connection: KafkaConnection },
  topic: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  const { signal } = new AbortController();
  for (const range of await topicOffsets(connection, topic)) {
    for await (const records of readRange(connection, { ...range, topic }, signal)) found.push(...records.map(textOf));
  }
  return found;
}

function textOf({ key, value, headers }: IncomingRecord): string {
  const named = Object.entries(headers).flat(2);
  return [key, ...named, value].map((part) => part?.toString("latin1") ?? "").join(" ");
}
