/** Where each event's delivery stands in the deliveries topic. */
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { LocalStack } from "@posthaste/local-stack/local-stack";
import { type Place, readValues } from "../e2e/read-topic.ts";

/** Of events that are routed; a record that repeats one counts for nothing. */
export async function readPlaces(
  { brokers, schemaRegistry }: Pick<LocalStack, "brokers" | "schemaRegistry">,
  names: TopicNames,
  messageIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Place>> {
  const log = { brokers, schemaRegistry, names, topic: names.deliveries, schema: "delivery" } as const;
  const places = new Map<string, Place>();
  await readValues<Delivery>(log, ({ messageId }, place) => {
    if (messageIds.has(messageId) && !places.has(messageId)) places.set(messageId, place);
  });
  return places;
}
