/** The table of destinations that the router follows. */
import type { Codec } from "@posthaste/contracts/codec";
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import type { RoutableDestination, RoutingTable } from "@posthaste/core/routing/routing";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createTable, type Table, type TableOptions } from "@posthaste/kafka/log/table";

/** When the table counts as behind. */
export type DestinationsTerms = Pick<TableOptions<RoutableDestination>, "behindLimitMs">;

export interface DestinationsOptions {
  readonly topic: string;
  readonly codec: Codec<DestinationRecord>;
  readonly routing: RoutingTable;
  readonly onFailure: (reason: Error) => void;
  readonly terms: DestinationsTerms | undefined;
}

/**
 * Follows the destinations. It keeps only the fields that routing needs, and opens no secret. Resolves when the topic
 * was read to its end.
 */
export async function followDestinations(
  connection: KafkaConnection,
  { topic, codec, routing, onFailure, terms }: DestinationsOptions,
): Promise<Table<RoutableDestination>> {
  const destinations = await createTable<RoutableDestination>(connection, {
    topic,
    onFailure,
    prefetch: codec.prefetch,
    decode: (bytes) => {
      const { id, enabled, sourceIds, payload } = codec.decode(bytes);
      return { id, enabled, sourceIds, payload };
    },
    onChange: (id, destination) => routing.set(id, destination),
    ...terms,
  });
  await destinations.caughtUp();
  return destinations;
}
