/** Opens control's parts for suppressions: the table that every process has, its writer, and the expiry. */
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { Suppression } from "@posthaste/core/deletion/suppression";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { followSuppressedUsers, type SuppressedUsersTable } from "@posthaste/kafka/log/suppressed-users";
import type { Producer } from "@posthaste/kafka/producer/producer";
import { SuppressionExpiry } from "./suppression-expiry.ts";
import { SuppressionWriter } from "./suppression-writer.ts";

export interface OpenSuppressionsOptions {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly topic: string;
  readonly producer: Producer;
  readonly clock: Clock;
  /** See ConfigStoreOptions. */
  readonly writer: number;
  /** Called when the topic cannot be followed any more. */
  readonly onFailure: (reason: Error) => void;
}

export interface Suppressions {
  readonly suppressed: SuppressedUsersTable;
  readonly writer: SuppressionWriter;
  readonly expiry: SuppressionExpiry;
}

/** Resolves when the table is being read. */
export async function openSuppressions(options: OpenSuppressionsOptions): Promise<Suppressions> {
  const { connection, openCodec, topic, clock, onFailure } = options;
  const codec = await openCodec<Suppression>("suppression");
  const suppressed = await followSuppressedUsers(connection, {
    ...{ topic, onFailure },
    onStale: (newest) => {
      const failed = (error: unknown): void =>
        connection.log.error({ event: "suppression_repair_failed", err: error }, "an older write may come back");
      writer.rewrite(newest).catch(failed);
    },
  });
  const writer: SuppressionWriter = new SuppressionWriter({ ...options, codec, suppressed });
  const expiry = new SuppressionExpiry({ connection, topic, codec, suppressed, writer, clock });
  return { suppressed, writer, expiry };
}
