/**
 * Produces put-aside records again to the topics from which they were read, once a service can read them.
 *
 * Owns nothing between two calls; each call has a producer of its own.
 * UP1  The produced record has the record's key, value and headers, byte for byte. Only the headers with the reason for
 *      the quarantine are removed.
 * UP2  A record of the deliveries goes to the retry topic of the shortest delay: in its own topic, behind the
 *      deliveries that were routed after it, it would count as a repeat by its origin (D1 of docs/design.md).
 * UP3  A record is marked as produced again only when the brokers have it in its topic: a crash between the two leads
 *      to a record that is produced twice, never to a record that is marked and lost.
 * UP4  A record that retention removed, whose topic no longer exists, or that its topic does not take, holds up no
 *      other. The first is reported as gone; the others stay as they are, the last counted as refused. One whose retry
 *      topic no longer exists goes the way of UP2.
 */
import { delayMsFromRetryTopic, type TopicNames } from "@posthaste/contracts/topics";
import { ownHeaders } from "@posthaste/contracts/unreadable-headers";
import { isPosthasteError } from "@posthaste/core/errors";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import { readRecord } from "@posthaste/kafka/log/read-record";
import { createProducer, type OutgoingRecord, type Producer } from "@posthaste/kafka/producer/producer";
import { placeOf, REPRODUCED_HEADER, type UnreadableEntry } from "./unreadable-entries.ts";

const READ_TIMEOUT_MS = 10_000;
const SEND_TIMEOUT_MS = 10_000;

export interface Reproduced {
  /** The number of records that were produced again. */
  readonly count: number;
  /** The entries whose records their topic does not take, such as those larger than its limit is now. */
  readonly refused: readonly UnreadableEntry[];
  /** The entries whose records are no longer in `posthaste.unreadable`. */
  readonly gone: readonly UnreadableEntry[];
}

/** Produces the records of these entries again. */
export async function reproduce(
  connection: KafkaConnection,
  names: TopicNames,
  entries: readonly UnreadableEntry[],
  audited: readonly OutgoingRecord[],
): Promise<Reproduced> {
  const target = await targetOf(connection, names);
  const targets = entries.flatMap(({ topic }) => target(topic) ?? []);
  const producer = await createProducer(connection, {
    name: "reproduce",
    topics: [...new Set([names.unreadable, names.audit, ...targets])],
  });
  try {
    let [count, isAudited] = [0, false];
    const [refused, gone]: [UnreadableEntry[], UnreadableEntry[]] = [[], []];
    // The audit's record of the caller goes before the first record, in a send of its own: a refusal of the other
    // record does not tell whether the audit has this one.
    const audit = async () => {
      if (!isAudited) await withDeadline(producer.send(audited), SEND_TIMEOUT_MS, "recording who asked");
      isAudited = true;
    };
    for (const entry of entries) {
      const outcome = await reproduceOne({ connection, names, producer, target, audit }, entry);
      if (outcome === "sent") count += 1;
      if (outcome === "refused") refused.push(entry);
      if (outcome === "gone") gone.push(entry);
    }
    return { count, refused, gone };
  } finally {
    await producer.close();
  }
}

interface Reproducing {
  readonly connection: KafkaConnection;
  readonly names: TopicNames;
  readonly producer: Producer;
  readonly target: Target;
  /** Sends the audit's records before the first record of the call, and nothing before the others. */
  readonly audit: () => Promise<void>;
}

/** The topic to which a record of a topic is produced again; null where that topic no longer exists (UP4). */
type Target = (topic: string) => string | null;

async function reproduceOne(
  { connection, names, producer, target, audit }: Reproducing,
  entry: UnreadableEntry,
): Promise<"sent" | "refused" | "gone" | "without topic"> {
  const topic = target(entry.topic);
  if (topic === null) return "without topic";
  const record = await readRecord(connection, { topic: names.unreadable, ...entry.at }, READ_TIMEOUT_MS);
  if (record === null) return "gone";
  const again: OutgoingRecord = {
    topic,
    key: record.key,
    value: record.value,
    headers: ownHeaders(record.headers),
  };
  await audit();
  try {
    // UP3
    await withDeadline(producer.send([again]), SEND_TIMEOUT_MS, `producing a record of ${topic} again`);
  } catch (error) {
    if (!isPosthasteError(error, "invalid_input")) throw error;
    connection.log.warn({ event: "unreadable_record_refused", topic, place: placeOf(entry), err: error });
    return "refused";
  }
  const { partition } = entry.at;
  const mark = { topic: names.unreadable, partition, key: null, value: null };
  const marked = producer.send([{ ...mark, headers: { [REPRODUCED_HEADER]: placeOf(entry) } }]);
  await withDeadline(marked, SEND_TIMEOUT_MS, "marking a record as produced again");
  return "sent";
}

/** UP2, UP4. */
async function targetOf(connection: KafkaConnection, names: TopicNames): Promise<Target> {
  const existing = await connection.withAdmin((admin) => admin.listTopics());
  const delayOf = (topic: string) => delayMsFromRetryTopic(names, topic) ?? Number.POSITIVE_INFINITY;
  const retryTopics = existing.filter((topic) => delayOf(topic) < Number.POSITIVE_INFINITY);
  const shortest = retryTopics.sort((a, b) => delayOf(a) - delayOf(b))[0];
  return (topic) => {
    if (topic === names.deliveries) return shortest ?? topic;
    if (existing.includes(topic)) return topic;
    return delayOf(topic) < Number.POSITIVE_INFINITY ? (shortest ?? null) : null;
  };
}
