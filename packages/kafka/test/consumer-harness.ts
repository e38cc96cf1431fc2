/** Shared by the tests of windowed consumption: members of a group that note their deeds, and a way to kill one. */
import { setTimeout as sleep } from "node:timers/promises";
import { SILENT_LOG } from "@posthaste/core/log";
import { createTestKafka, kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import type { FaultProxy } from "@posthaste/testkit/fault-proxy";
import type { Producer, ProducerRecord } from "kafkajs";
import { connectKafka, type KafkaConnection } from "../src/connection/connect.ts";
import type { KafkaClient } from "../src/connection/kafka-client.ts";
import type { KafkaMetrics } from "../src/connection/metrics.ts";
import { createWindowedConsumer } from "../src/consumer/consumer.ts";
import type { Task, WindowedConsumer, WindowedConsumerOptions } from "../src/consumer/windowed-consumer.ts";

export interface Member {
  readonly consumer: WindowedConsumer;
  readonly connection: KafkaConnection;
  /** `partition:offset` of every task that was started, in order. */
  readonly ran: string[];
  /** `partition:offset` of every task whose handler ended. */
  readonly finished: string[];
  readonly failures: Error[];
  /** As if the process were gone: nothing more is sent, not even a goodbye. */
  kill(): void;
  close(): Promise<void>;
}

export type MemberOptions = Partial<WindowedConsumerOptions<string>> & {
  readonly groupId: string;
  readonly topics: readonly string[];
  /** Ms that a task takes; 0 finishes as it starts. */
  readonly workMs?: number | ((task: Task<string>) => number);
  readonly metrics?: KafkaMetrics;
  /** Asked before each question to the brokers; throws where they are not to answer. */
  readonly beforeAdmin?: () => void;
  /** Where its connections lead to, if not to the brokers themselves. */
  readonly route?: FaultProxy["route"];
};

export function nameOf({ partition, offset }: { readonly partition: number; readonly offset: number }): string {
  return `${partition}:${offset}`;
}

/** A member of a group that is not started yet. Its items are the records' values as text. */
export function createMember({ workMs = 0, metrics, beforeAdmin, route, ...options }: MemberOptions): Member {
  const real = connectKafka({
    brokers: kafkaBrokers(),
    clientId: "consumer-test",
    log: SILENT_LOG,
    ...(metrics ? { metrics } : {}),
    ...(route ? { route } : {}),
  });
  const clients: KafkaClient[] = [];
  const connection: KafkaConnection = {
    ...real,
    createClient: (client) => {
      const made = real.createClient(client);
      clients.push(made);
      return made;
    },
    withAdmin: async (use) => {
      beforeAdmin?.();
      return real.withAdmin(use);
    },
  };
  const ran: string[] = [];
  const finished: string[] = [];
  const failures: Error[] = [];
  let killed = false;
  const consumer = createWindowedConsumer<string>(connection, {
    window: { maxRecords: 1000, maxBytes: 16 * 1024 * 1024 },
    take: ({ value }) => value?.toString() ?? "",
    laneOf: () => null,
    onFailure: (reason) => failures.push(reason),
    run: async (task) => {
      if (killed) return new Promise(() => undefined);
      ran.push(nameOf(task.record));
      const ms = typeof workMs === "number" ? workMs : workMs(task);
      if (ms > 0) await sleep(ms);
      if (!killed) finished.push(nameOf(task.record));
    },
    ...options,
  });
  return {
    consumer,
    connection,
    ran,
    finished,
    failures,
    kill: () => {
      killed = true;
      for (const client of clients) client.destroy();
    },
    close: async () => {
      if (killed) for (const client of clients) client.destroy();
      await consumer.stop();
      await real.close();
    },
  };
}

/**
 * Writes `count` records, the i-th to partition i modulo `partitions`, valued by its number from `first` on, fifty keys
 * in turn. Waits for a partition that is being added: kafkajs leaves out the records of one that it does not know,
 * without an error, and its answer does not name it then.
 */
export async function writeRecords(
  topic: string,
  {
    count,
    partitions,
    first = 0,
    aheadMs = 0,
    headers = {},
  }: {
    count: number;
    partitions: number;
    first?: number /** The producer's clock is so much ahead. */;
    aheadMs?: number;
    headers?: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const producer = createTestKafka().producer({ allowAutoTopicCreation: false, metadataMaxAge: 0 });
  await producer.connect();
  try {
    const messages = Array.from({ length: count }, (_, index) => ({
      partition: index % partitions,
      key: `k${(first + index) % 50}`,
      value: String(first + index),
      timestamp: String(Date.now() + aheadMs),
      headers,
    }));
    // A request for each partition: kafkajs sends a whole request again when one partition of it was refused.
    for (let each = 0; each < partitions; each += 1) {
      const sent = { topic, messages: messages.filter(({ partition }) => partition === each) };
      if (sent.messages.length > 0) await sendWhenKnown(producer, sent);
    }
  } finally {
    await producer.disconnect();
  }
}

/** Sends once the partition of the records is known. A refusal is told at once: some of it may have been written. */
async function sendWhenKnown(producer: Producer, sent: ProducerRecord): Promise<void> {
  const answer = await eventually(async () => {
    const named: unknown = await producer.send(sent).catch((refusal: unknown) => refusal);
    if (Array.isArray(named) && named.length === 0) throw new Error(`${sent.topic} lacks a partition`);
    return named;
  });
  if (!Array.isArray(answer)) throw answer;
}

/** Every record that `writeRecords` wrote, by the name that members note. */
export function allNames(count: number, partitions: number): string[] {
  return Array.from({ length: count }, (_, index) => `${index % partitions}:${Math.floor(index / partitions)}`);
}
