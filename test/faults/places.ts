/** Where each event's delivery stands in the deliveries topic. */
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import type { LocalStack } from "@posthaste/local-stack/local-stack";
import { createTestKafka } from "@posthaste/testkit/broker";
import { uniqueName } from "@posthaste/testkit/topics";

export interface Place {
  readonly partition: number;
  readonly offset: number;
}

/**
 * Reads the topic from its beginning until every one of `messageIds` was seen; a record that repeats one counts for
 * nothing.
 */
export async function readPlaces(
  { brokers, schemaRegistry }: Pick<LocalStack, "brokers" | "schemaRegistry">,
  names: TopicNames,
  messageIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Place>> {
  const codec = await createOpenCodec({ url: schemaRegistry, names })<Delivery>("delivery");
  const consumer = createTestKafka(brokers).consumer({ groupId: uniqueName("places") });
  const places = new Map<string, Place>();
  let missing = messageIds.size;
  await consumer.connect();
  await consumer.subscribe({ topics: [names.deliveries], fromBeginning: true });
  try {
    await new Promise<void>((resolve, reject) => {
      const eachMessage = async ({
        partition,
        message,
      }: {
        partition: number;
        message: KafkaMessage;
      }): Promise<void> => {
        if (message.value === null) return;
        await codec.prefetch(message.value);
        const { messageId } = codec.decode(message.value);
        if (places.has(messageId)) return;
        places.set(messageId, { partition, offset: Number(message.offset) });
        if (messageIds.has(messageId)) missing -= 1;
        if (missing === 0) resolve();
      };
      consumer.run({ autoCommit: false, eachMessage }).catch(reject);
    });
  } finally {
    await consumer.disconnect();
  }
  return places;
}

interface KafkaMessage {
  readonly value: Buffer | null;
  readonly offset: string;
}
