/** The dead-letter topic as a data engineer reads it. */
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { type ReadTopicOptions, readTopic } from "./read-topic.ts";

export type DeadLettersOptions = Omit<ReadTopicOptions, "topic" | "schema">;

/** All dead letters that stand in the topic now. */
export async function readDeadLetters(options: DeadLettersOptions): Promise<readonly DeadLetter[]> {
  return readTopic<DeadLetter>({ ...options, topic: options.names.deadLetters, schema: "dead-letter" });
}
