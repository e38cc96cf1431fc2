/**
 * The topic generation of the events topic: a number that says which log of that topic an offset belongs to (origins,
 * rules D1 to D3). The meta topic holds it as text, in one record, and in a second record the topic generation together
 * with the id that Kafka gave the topic. Both records are written together.
 *
 * IN1  The topic generation only rises: its records carry it as their revision, and the table that reads them ignores
 *      a lower revision.
 * IN2  A topic generation counts only for the topic whose Kafka id was written with it. For a topic with another id,
 *      or where no id was written, `settleEventsLog` writes a higher topic generation with this topic's id. That costs
 *      repeats at most, because a new topic generation starts a new sequence of origins. Under the old one, delivery
 *      could take deliveries of the new topic for repeats of the old topic's.
 * IN3  Several processes may raise the topic generation at once. Each then writes a number above all that the old
 *      topic had, with the id of the same topic.
 * IN4  No two topics share a topic generation. When two processes wrote the same number with different ids, the number
 *      belongs to the id that was written first, which all processes read alike; the other process raises the number
 *      once more.
 */
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { EVENTS_TOPIC_GENERATION_KEY, EVENTS_TOPIC_ID_KEY, type TopicNames } from "@posthaste/contracts/topics";
import { PosthasteError } from "@posthaste/core/errors";
import type { KafkaConnection } from "../connection/connect.ts";
import { readTopicId } from "../connection/topic-id.ts";
import { createTable } from "../log/table.ts";
import { createProducer } from "../producer/producer.ts";

/** The program of control that makes topics and raises the topic generation; errors name it to the operator. */
export const TOPICS_PROGRAM = "services/control/src/topics-main.ts";

export interface EventsLog {
  readonly topicGeneration: number;
  /**
   * The id of the topic that the topic generation is for; null where the cluster gives no ids, or none was written.
   */
  readonly topicId: string | null;
}

/**
 * The topic generation that the meta topic holds; null when it holds none. Rejects with `topic_missing` when the meta
 * topic does not exist.
 */
export async function findEventsLog(connection: KafkaConnection, names: TopicNames): Promise<EventsLog | null> {
  return (await readTopicGenerations(connection, names)).present;
}

interface TopicGenerations {
  /** The newest topic generation; null when none was written. */
  readonly present: EventsLog | null;
  /** The topic id that was written first with each topic generation, by the topic generation as text (IN4). */
  readonly owners: ReadonlyMap<string, string>;
}

async function readTopicGenerations(connection: KafkaConnection, names: TopicNames): Promise<TopicGenerations> {
  const owners = new Map<string, string>();
  const table = await createTable(connection, {
    topic: names.meta,
    decode: decodeText,
    onChange: (key, text = "") => {
      const [topicGeneration = "", topicId] = key === EVENTS_TOPIC_ID_KEY ? text.split(" ") : [];
      if (topicId !== undefined && !owners.has(topicGeneration)) owners.set(topicGeneration, topicId);
    },
  });
  try {
    await table.caughtUp();
    const text = table.get(EVENTS_TOPIC_GENERATION_KEY);
    const topicGeneration = Number(text);
    if (text === undefined || !Number.isSafeInteger(topicGeneration)) return { present: null, owners };
    return { present: { topicGeneration, topicId: owners.get(text) ?? null }, owners };
  } finally {
    await table.close();
  }
}

/**
 * The topic generation under which origins are to be written (IN2). Waits for brokers. Rejects with `topic_missing`
 * when the events topic does not exist, or the meta topic holds no topic generation.
 */
export async function settleEventsLog(connection: KafkaConnection, names: TopicNames): Promise<EventsLog> {
  const topicId = await readTopicId(connection, names.events);
  const found = await findEventsLog(connection, names);
  if (found === null) {
    const message = `${names.meta} holds no topic generation of ${names.events}; to make what lacks, run ${TOPICS_PROGRAM}`;
    throw new PosthasteError("topic_missing", message);
  }
  if (topicId === null || found.topicId === topicId) return { topicGeneration: found.topicGeneration, topicId };
  const raised = await raiseEventsLog(connection, names, topicId);
  const fields = {
    event: "log_id_raised",
    topic: names.events,
    from: found.topicGeneration,
    to: raised.topicGeneration,
  };
  if (found.topicId === null)
    connection.log.info(fields, "the topic generation of the events topic has the topic's own id from now on");
  else
    connection.log.warn(
      fields,
      "the events topic is not the one that its topic generation was made for: it was made anew",
    );
  return raised;
}

/**
 * Writes a higher topic generation for the topic with this id and returns the one that counts after that. The number
 * is at least the time in seconds, so that it rises even when the meta topic was lost together with the events.
 */
export async function raiseEventsLog(
  connection: KafkaConnection,
  names: TopicNames,
  topicId: string | null,
  nowMs: number = Date.now(),
): Promise<EventsLog> {
  const previous = (await findEventsLog(connection, names))?.topicGeneration ?? 0;
  const topicGeneration = Math.max(previous + 1, Math.floor(nowMs / 1000));
  const headers = { [REVISION_HEADER]: String(topicGeneration) };
  const record = (key: string, text: string) => ({ topic: names.meta, key, value: Buffer.from(text), headers });
  const producer = await createProducer(connection, { name: "topics", topics: [names.meta] });
  try {
    await producer.send([
      record(EVENTS_TOPIC_GENERATION_KEY, String(topicGeneration)),
      ...(topicId === null ? [] : [record(EVENTS_TOPIC_ID_KEY, `${topicGeneration} ${topicId}`)]),
    ]);
  } finally {
    await producer.close();
  }
  const { present, owners } = await readTopicGenerations(connection, names);
  // Another process may have written a higher number for the same topic at the same time: all use that one.
  if (present !== null && present.topicGeneration > topicGeneration && present.topicId === topicId) return present;
  // Another process may own this number (IN4), also when somebody has raised it since.
  const isTaken = topicId !== null && owners.get(String(topicGeneration)) !== topicId;
  return isTaken ? raiseEventsLog(connection, names, topicId, nowMs) : { topicGeneration, topicId };
}

function decodeText(bytes: Buffer): string {
  return bytes.toString();
}
