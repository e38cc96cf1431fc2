/** The table of destinations, as the router follows it. */
import type { Codec } from "@posthaste/contracts/codec";
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import type { RoutableDestination, RoutingTable } from "@posthaste/core/routing/routing";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createTable, type Table, type TableOptions } from "@posthaste/kafka/log/table";

/** When the table counts as not read to its end. */
export type DestinationsTerms = Pick<TableOptions<RoutableDestination>, "behindLimitMs">;

export interface DestinationsOptions {
  readonly topic: string;
  readonly codec: Codec<DestinationRecord>;
  readonly routing: RoutingTable;
  readonly onFailure: (reason: Error) => void;
  readonly terms: DestinationsTerms | undefined;
}

/**
 * Follows the destinations. Of each only what routing needs is kept, and no secret is opened. Resolves when the topic
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
