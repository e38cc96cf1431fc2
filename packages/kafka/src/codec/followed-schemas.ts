import type { Codec } from "@posthaste/contracts/codec";
import type { KafkaConnection } from "../connection/connect.ts";
import { AwaitedSchemas } from "./awaited-schemas.ts";

export interface FollowedSchemasOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly codec: Pick<Codec<never>, "prefetch">;
  /** How long, in ms, a record waits for a schema that the registry says it does not know. */
  readonly unknownSchemaMs: number;
}

/**
 * The schemas of a topic's records for a follower of the topic, until `signal` is aborted; it logs `event` while a
 * record waits for its schema.
 */
export function followedSchemas(options: FollowedSchemasOptions, event: string, signal: AbortSignal): AwaitedSchemas {
  const { connection, topic, codec, unknownSchemaMs } = options;
  return new AwaitedSchemas({
    prefetch: codec.prefetch,
    patienceMs: unknownSchemaMs,
    waiting: {
      log: connection.log,
      fields: { event, topic },
      message: "the schema of a record cannot be fetched: trying on",
      signal,
    },
  });
}
