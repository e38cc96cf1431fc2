/**
 * Topics of a test's own, so that tests share a broker without meeting each other.
 *
 * TT1  Every name is unique, over processes too.
 * TT2  A test's topics are gone after it: call `deleteTopics` from `afterAll` or use `withTopic`.
 */
import { randomBytes } from "node:crypto";
import type { ITopicConfig } from "kafkajs";
import { kafkaBrokers, withAdmin } from "./broker.ts";
import { eventually } from "./eventually.ts";

/** `name` and something that no other test has; fit for `createTopicNames`, a group id or a topic. */
export function uniqueName(name: string): string {
  return `t-${name}-${randomBytes(6).toString("hex")}`;
}

export interface TestTopicOptions {
  readonly partitions?: number;
  readonly replicationFactor?: number;
  /** Topic settings such as `cleanup.policy`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly brokers?: readonly string[];
}

/** Makes the topic `name` (by default one partition, one replica) and resolves when every partition has a leader. */
export async function createTopic(name: string, options: TestTopicOptions = {}): Promise<string> {
  const { partitions = 1, replicationFactor = 1, settings = {}, brokers = kafkaBrokers() } = options;
  const topic: ITopicConfig = {
    topic: name,
    numPartitions: partitions,
    replicationFactor,
    configEntries: Object.entries(settings).map(([key, value]) => ({ name: key, value })),
  };
  await withAdmin(async (admin) => {
    await admin.createTopics({ topics: [topic], waitForLeaders: false });
    // kafkajs's own wait ends with an error when the broker that it asks has not heard of the topic yet.
    await eventually(async () => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [name] });
      const led = topics[0]?.partitions.filter(({ leader }) => leader >= 0) ?? [];
      if (led.length < partitions) throw new Error(`${name} has ${led.length} of ${partitions} leaders`);
    });
  }, brokers);
  return name;
}

/** Deletes every topic whose name begins with `prefix` and answers when none is listed any more; none is no error. */
export function deleteTopics(prefix: string, brokers: readonly string[] = kafkaBrokers()): Promise<void> {
  return deleteWhere((topic) => topic.startsWith(prefix), brokers);
}

async function deleteWhere(isMeant: (topic: string) => boolean, brokers: readonly string[]): Promise<void> {
  await withAdmin(async (admin) => {
    const listed = async () => (await admin.listTopics()).filter(isMeant);
    const topics = await listed();
    if (topics.length === 0) return;
    await admin.deleteTopics({ topics });
    // The controller answers before the broker has heard of it, which would show them to the next reader.
    await eventually(async () => {
      const left = await listed();
      if (left.length > 0) throw new Error(`${left.join(", ")} are listed still`);
    });
  }, brokers);
}

/**
 * Deletes the topic and makes it anew, as an operator or a tool would: by Kafka's own means, past everything of this
 * project. No broker takes a record for the old one any more when this is answered.
 */
export async function remakeTopic(name: string, options: TestTopicOptions = {}): Promise<void> {
  await deleteWhere((topic) => topic === name, options.brokers ?? kafkaBrokers());
  await createTopic(name, options);
}

/** Runs `work` with a fresh topic and deletes it afterwards, whatever happens. */
export async function withTopic<T>(
  name: string,
  options: TestTopicOptions,
  work: (topic: string) => Promise<T>,
): Promise<T> {
  const topic = await createTopic(uniqueName(name), options);
  try {
    return await work(topic);
  } finally {
    await deleteTopics(topic, options.brokers);
  }
}
