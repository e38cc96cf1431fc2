import { randomBytes } from "node:crypto";
import { eventually } from "@posthaste/testkit/eventually";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KafkaConnection } from "../src/connection/connect.ts";
import { createProducer } from "../src/producer/producer.ts";
import { describeSettings } from "../src/topics/topic-settings.ts";
import { createMember } from "./consumer-harness.ts";
import { connectTest, readValues } from "./harness.ts";

/** Texts that compress to nothing, hardly, not at all, and over several blocks of a codec; in base64. */
function someValues(): string[] {
  const noise = (bytes: number) => randomBytes(bytes).toString("base64");
  const words = Array.from({ length: 3000 }, (_, index) => `"user ${index % 71} of ${index}"`).join(",");
  return ["", "x", "a".repeat(300_000), noise(40), noise(90_000), `[${words}]`, "ab".repeat(70_000), noise(7), words];
}

describe("a topic whose records the broker compresses", () => {
  let topic: string;
  let connection: KafkaConnection;

  beforeEach(() => {
    topic = uniqueName("compression");
    connection = connectTest();
  });
  afterEach(async () => {
    await connection.close();
    await deleteTopics(topic);
  });

  async function write(values: readonly string[]): Promise<void> {
    const producer = await createProducer(connection, { name: "test", topics: [topic] });
    // Together, as a batch, and each in a batch of its own.
    await producer.send(values.map((value) => ({ topic, key: null, value: Buffer.from(value) })));
    for (const value of values) await producer.send([{ topic, key: null, value: Buffer.from(value) }]);
    await producer.close();
  }

  it.each(["gzip", "snappy", "lz4", "zstd"])(
    "by %s is read like any other, with a group and without",
    async (codec) => {
      await createTopic(topic, { settings: { "compression.type": codec } });
      const settings = await connection.withAdmin((admin) => describeSettings(admin, [topic]));
      expect(settings.get(topic)?.given.get("compression.type")).toBe(codec);
      const values = someValues();
      await write(values);
      expect(await readValues(connection, topic)).toEqual([...values, ...values]);

      const taken: string[] = [];
      const take = ({ value }: { readonly value: Buffer | null }) => {
        taken.push(String(value));
        return "";
      };
      const member = createMember({ groupId: topic, topics: [topic], take });
      await member.consumer.start();
      await eventually(() => expect(taken).toHaveLength(2 * values.length));
      expect(taken).toEqual([...values, ...values]);
      expect(member.failures).toEqual([]);
      await member.close();
    },
  );
});
