/**
 * Records that were put aside, produced again to where they were read from, once somebody can read them.
 *
 * Owns nothing between two calls; a call has a producer of its own.
 * UP1  Key, value and headers are those of the record, byte for byte; the headers that say why it was put aside are
 *      gone.
 * UP2  A record of the deliveries goes to the retry topic of the shortest delay: in its own topic it would count as a
 *      repeat by its origin, behind those that were routed after it (D1 of docs/design.md).
 * UP3  It is marked as produced again in the same send, so it is produced once but for a crash.
 */
import { delayMsFromRetryTopic, type TopicNames } from "@posthaste/contracts/topics";
import { ownHeaders } from "@posthaste/contracts/unreadable-headers";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import { followLog } from "@posthaste/kafka/log/log-reader";
import { createProducer, type OutgoingRecord, type Producer } from "@posthaste/kafka/producer/producer";
import { existingRetryTopics } from "@posthaste/kafka/topics/topic-admin";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { placeOf, REPRODUCED_HEADER, type UnreadableEntry } from "./unreadable-journal.ts";

const READ_TIMEOUT_MS = 10_000;

/** Produces the records of these entries again; answers how many the brokers have. */
export async function reproduce(
  connection: KafkaConnection,
  names: TopicNames,
  entries: readonly UnreadableEntry[],
): Promise<number> {
  const target = await targetOf(connection, names);
  const topics = new Set([names.unreadable, ...entries.map(({ topic }) => target(topic))]);
  const producer = await createProducer(connection, { name: "reproduce", topics: [...topics] });
  try {
    let sent = 0;
    for (const entry of entries) sent += await reproduceOne({ connection, names, producer, target }, entry);
    return sent;
  } finally {
    await producer.close();
  }
}

interface Reproducing {
  readonly connection: KafkaConnection;
  readonly names: TopicNames;
  readonly producer: Producer;
  /** Where a record of a topic goes. */
  readonly target: (topic: string) => string;
}

async function reproduceOne(
  { connection, names, producer, target }: Reproducing,
  entry: UnreadableEntry,
): Promise<number> {
  const record = await readRecord(connection, names.unreadable, entry);
  if (record === null) return 0;
  const again: OutgoingRecord = {
    topic: target(entry.topic),
    key: record.key,
    value: record.value,
    headers: ownHeaders(record.headers),
  };
  const { partition } = entry.at;
  const mark = { topic: names.unreadable, partition, key: null, value: null };
  await producer.send([again, { ...mark, headers: { [REPRODUCED_HEADER]: placeOf(entry) } }]);
  return 1;
}

/** UP2. */
async function targetOf(connection: KafkaConnection, names: TopicNames): Promise<(topic: string) => string> {
  const delayOf = (topic: string) => delayMsFromRetryTopic(names, topic) ?? Number.POSITIVE_INFINITY;
  const retryTopics = [...(await existingRetryTopics(connection, names))].sort((a, b) => delayOf(a) - delayOf(b));
  return (topic) => (topic === names.deliveries ? (retryTopics[0] ?? topic) : topic);
}

/** Null when retention took it. */
async function readRecord(
  connection: KafkaConnection,
  topic: string,
  { at: { partition, offset } }: UnreadableEntry,
): Promise<IncomingRecord | null> {
  const found = Promise.withResolvers<IncomingRecord | null>();
  const reader = await followLog(connection, {
    ...{ topic, partition, from: offset },
    onRecords: ([first]) => found.resolve(first?.offset === offset ? first : null),
    onFailure: found.reject,
  });
  try {
    return await withDeadline(found.promise, READ_TIMEOUT_MS, `reading a record of ${topic}`);
  } finally {
    await reader.close();
  }
}
