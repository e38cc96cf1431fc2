/**
 * The incarnation of the events topic: which log an offset belongs to (origins, rules D1 to D3). It stands in the meta
 * topic, as text, and beside it the id that Kafka itself gave the topic: two records, written together.
 *
 * IN1  The topic incarnation only rises: its records carry it as their revision, and the table that reads them ignores
 *      a lower one.
 * IN2  A topic incarnation is used only for the topic whose Kafka id stands beside it. Where another id stands there,
 *      or none, a higher topic incarnation is written with the topic's own id. That costs at most repeats, since
 *      whoever writes under a new topic incarnation begins a sequence. To go on under the old one would let deliveries
 *      be taken for those of the topic that is gone.
 * IN3  Several processes may do so at once. What they write differs by the number alone: each number is above all that
 *      the old topic had, and each stands for the same topic.
 * IN4  No two topics share a topic incarnation. Where several processes wrote the same number, it is of the topic that
 *      stood beside it first, which all of them read alike; whoever wrote another topic raises the number once more.
 */
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { EVENTS_INCARNATION_KEY, EVENTS_TOPIC_ID_KEY, type TopicNames } from "@posthaste/contracts/topics";
import { PosthasteError } from "@posthaste/core/errors";
import type { KafkaConnection } from "../connection/connect.ts";
import { readTopicId } from "../connection/topic-id.ts";
import { createTable } from "../log/table.ts";
import { createProducer } from "../producer/producer.ts";

/** The program that makes topics and raises the topic incarnation, for whoever has to. */
export const TOPICS_PROGRAM = "services/control/src/topics-main.ts";

export interface EventsLog {
  readonly incarnation: number;
  /** The id of the topic that the topic incarnation is for; null where the cluster has none, or nobody wrote it. */
  readonly topicId: string | null;
}

/** What stands in the meta topic; null when nothing does. Rejects with `topic_missing` when there is no meta topic. */
export async function findEventsLog(connection: KafkaConnection, names: TopicNames): Promise<EventsLog | null> {
  return (await readIncarnations(connection, names)).present;
}

interface Incarnations {
  /** The newest; null when nothing was written. */
  readonly present: EventsLog | null;
  /** The first topic id that stood beside each topic incarnation, as text (IN4). */
  readonly owners: ReadonlyMap<string, string>;
}

async function readIncarnations(connection: KafkaConnection, names: TopicNames): Promise<Incarnations> {
  const owners = new Map<string, string>();
  const table = await createTable(connection, {
    topic: names.meta,
    decode: decodeText,
    onChange: (key, text = "") => {
      const [incarnation = "", topicId] = key === EVENTS_TOPIC_ID_KEY ? text.split(" ") : [];
      if (topicId !== undefined && !owners.has(incarnation)) owners.set(incarnation, topicId);
    },
  });
  try {
    await table.caughtUp();
    const text = table.get(EVENTS_INCARNATION_KEY);
    const incarnation = Number(text);
    if (text === undefined || !Number.isSafeInteger(incarnation)) return { present: null, owners };
    return { present: { incarnation, topicId: owners.get(text) ?? null }, owners };
  } finally {
    await table.close();
  }
}

/**
 * The topic incarnation to write origins under (IN2). Waits for brokers. Rejects with `topic_missing` when the events
 * topic does not exist, or nothing stands in the meta topic.
 */
export async function settleEventsLog(connection: KafkaConnection, names: TopicNames): Promise<EventsLog> {
  const topicId = await readTopicId(connection, names.events);
  const found = await findEventsLog(connection, names);
  if (found === null) {
    const message = `${names.meta} holds no topic incarnation of ${names.events}; to make what lacks, run ${TOPICS_PROGRAM}`;
    throw new PosthasteError("topic_missing", message);
  }
  if (topicId === null || found.topicId === topicId) return { incarnation: found.incarnation, topicId };
  const raised = await raiseEventsLog(connection, names, topicId);
  const fields = { event: "log_id_raised", topic: names.events, from: found.incarnation, to: raised.incarnation };
  if (found.topicId === null)
    connection.log.info(fields, "the topic incarnation of the events topic has the topic's own id from now on");
  else
    connection.log.warn(
      fields,
      "the events topic is not the one that its topic incarnation was made for: it was made anew",
    );
  return raised;
}

/**
 * Writes a higher topic incarnation for the topic of this id, and answers what stands there then. It follows the time
 * in seconds, so that it rises even when the meta topic was lost with the events.
 */
export async function raiseEventsLog(
  connection: KafkaConnection,
  names: TopicNames,
  topicId: string | null,
  nowMs: number = Date.now(),
): Promise<EventsLog> {
  const previous = (await findEventsLog(connection, names))?.incarnation ?? 0;
  const incarnation = Math.max(previous + 1, Math.floor(nowMs / 1000));
  const headers = { [REVISION_HEADER]: String(incarnation) };
  const record = (key: string, text: string) => ({ topic: names.meta, key, value: Buffer.from(text), headers });
  const producer = await createProducer(connection, { name: "topics", topics: [names.meta] });
  try {
    await producer.send([
      record(EVENTS_INCARNATION_KEY, String(incarnation)),
      ...(topicId === null ? [] : [record(EVENTS_TOPIC_ID_KEY, `${incarnation} ${topicId}`)]),
    ]);
  } finally {
    await producer.close();
  }
  const { present, owners } = await readIncarnations(connection, names);
  // Another process may have written a higher one at the same time: then that is everybody's.
  if (present !== null && present.incarnation > incarnation && present.topicId === topicId) return present;
  // Also of a number that somebody has raised since: whose it is was settled by who wrote it first (IN4).
  const isTaken = topicId !== null && owners.get(String(incarnation)) !== topicId;
  return isTaken ? raiseEventsLog(connection, names, topicId, nowMs) : { incarnation, topicId };
}

function decodeText(bytes: Buffer): string {
  return bytes.toString();
}
