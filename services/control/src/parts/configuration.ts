/**
 * The configuration: the tables of sources and destinations, the audit trail of their changes, and the producer that
 * all of them share.
 */

import { openConfigStore } from "@posthaste/configuration/config-store";
import { openAudit } from "@posthaste/configuration/open-audit";
import { createDestinationCodec, type DestinationRecord } from "@posthaste/contracts/destination-codec";
import { createSecretBox } from "@posthaste/contracts/secret-box";
import { createSourceCodec, type SourceRecord } from "@posthaste/contracts/source-codec";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { createProducer } from "@posthaste/kafka/producer/producer";
import type { ControlConfig } from "../config.ts";
import { destinationAudit } from "../configuration/destinations/destination-audit.ts";
import { sourceAudit } from "../configuration/sources/source-audit.ts";
import type { Clients } from "./clients.ts";

export interface OpenConfigurationOptions {
  readonly config: ControlConfig;
  readonly clock: Clock;
  readonly log: Log;
  /** See ConfigStoreOptions. */
  readonly writer: number;
  /** Called when control can no longer follow a topic. */
  readonly fail: (reason: Error) => void;
}

export type Configuration = Awaited<ReturnType<typeof openConfiguration>>;

/** Resolves when the readers of both tables have begun. */
export async function openConfiguration({ names, connection, openCodec }: Clients, options: OpenConfigurationOptions) {
  const { config, clock, log, writer, fail } = options;
  const [sourceCodec, destinationRecords] = await Promise.all([
    openCodec<SourceRecord>("source"),
    openCodec<DestinationRecord>("destination"),
  ]);
  const producer = await createProducer(connection, {
    name: "control",
    topics: [
      ...[names.sourceConfig, names.destinationConfig, names.events, names.deletions, names.suppressions],
      ...[names.audit, names.meta],
    ],
  });
  const audit = await openAudit({ connection, openCodec, names, clock, fail });
  const store = { producer, clock, log, writer, trail: audit.trail };
  const [sources, destinations] = await Promise.all([
    openConfigStore(connection, {
      ...store,
      topic: names.sourceConfig,
      codec: createSourceCodec(sourceCodec),
      auditedFields: sourceAudit,
    }),
    openConfigStore(connection, {
      ...store,
      topic: names.destinationConfig,
      codec: createDestinationCodec(destinationRecords, createSecretBox(config.POSTHASTE_SECRET_KEYS)),
      auditedFields: destinationAudit,
    }),
  ]);
  return { producer, audit, sources, destinations };
}
