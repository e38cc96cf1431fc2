/** The intake of a partition, over a consumer that a test plays. */
import type { KafkaMessage } from "kafkajs";
import { PartitionIntake } from "../src/consumer/partition-intake.ts";
import { WorkingSetShare } from "../src/consumer/window-fill.ts";
import type { Task, WindowedConsumerOptions } from "../src/consumer/windowed-consumer.ts";

/** A message as kafkajs fetches it, without headers. */
export function messageAt(offset: number, value: Buffer | null = null, timestamp = "7"): KafkaMessage {
  return { offset: String(offset), timestamp, key: null, value, attributes: 0 } as unknown as KafkaMessage;
}

/** An intake of a partition that begins at 0 unless told otherwise, and its requests to kafkajs's consumer. */
export function openIntake(options: Partial<WindowedConsumerOptions<number>> = {}, begins = true) {
  const share = new WorkingSetShare(options.workingSet);
  const asked: string[] = [];
  const ran: Task<number>[] = [];
  const failures: Error[] = [];
  let idle = 0;
  const onFailure = (reason: Error) => void failures.push(reason);
  const intake = new PartitionIntake<number, never>(
    { topic: "t", partition: 0 },
    {
      groupId: "g",
      topics: ["t"],
      window: { maxRecords: 4, maxBytes: 1_000_000 },
      take: ({ offset }) => offset,
      laneOf: () => null,
      run: (task) => void ran.push(task),
      onFailure,
      ...options,
    },
    {
      pause: () => asked.push("pause"),
      resume: () => asked.push("resume"),
      seek: (offset) => asked.push(`seek ${offset}`),
    },
    {
      clock: { nowMs: () => performance.now(), monotonicMs: () => performance.now() },
      share,
      onFailure,
      onIdle: () => {
        idle += 1;
      },
      onChanged: () => undefined,
    },
  );
  if (begins) intake.begin(0, null);
  const accept = (from: number, count: number, more: { timestamp?: string; end?: number; lastOffset?: number } = {}) =>
    intake.accept({
      messages: Array.from({ length: count }, (_, index) => messageAt(from + index, null, more.timestamp)),
      fetchedFrom: from,
      lastOffset: more.lastOffset ?? from + count - 1,
      endOffset: more.end ?? 1000,
    });
  return {
    intake,
    accept,
    asked: () => asked.splice(0),
    ran: () => ran.map(({ item }) => item),
    finish: (offset: number) => ran.find(({ item }) => item === offset)?.finish(),
    failures,
    idle: () => idle,
  };
}
