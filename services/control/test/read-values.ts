/** What stands in a topic, as the bytes' own text: for what must not be in it. */
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { followLog } from "@posthaste/kafka/log/log-reader";
import type { TestTopics } from "@posthaste/testbed/test-topics";

/** Keys, headers and values of every record that stands in the topic now. */
export async function readValues({ connection }: TestTopics, topic: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { partition, end } of await topicOffsets(connection, topic)) {
    const reader = await followLog(connection, {
      ...{ topic, partition, from: "start" },
      onRecords: (records) => {
        for (const { key, value, headers } of records) {
          found.push(
            [key, Buffer.from(JSON.stringify(headers)), value].map((part) => part?.toString("latin1") ?? "").join(" "),
          );
        }
      },
      onFailure: (reason) => {
        throw reason;
      },
    });
    await reader.reached(end);
    await reader.close();
  }
  return found;
}
