/**
 * The clients through which control reaches other systems: the connection to the brokers, the schema registry, the
 * sender of test-sends.
 */
import { readFile } from "node:fs/promises";
import type { OpenCodec } from "@posthaste/contracts/codec";
import { createTopicNames } from "@posthaste/contracts/topics";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { createKafkaMetrics } from "@posthaste/kafka/connection/metrics";
import { kafkaAccess, registryAccess } from "@posthaste/runtime/connection-settings";
import { createWebhookSender } from "@posthaste/webhook/sender";
import type { Registry } from "prom-client";
import type { ControlConfig } from "../config.ts";

export interface OpenClientsOptions {
  readonly config: ControlConfig;
  readonly log: Log;
  readonly registry: Registry;
  readonly clock: Clock;
  /** Opens the codecs. Default: the codecs of the registry in the settings. */
  readonly openCodec?: OpenCodec | undefined;
}

export type Clients = Awaited<ReturnType<typeof openClients>>;

/** Resolves when the extra certificates have been read; nothing is connected yet. */
export async function openClients({ config, log, registry, clock, ...options }: OpenClientsOptions) {
  const { POSTHASTE_EXTRA_CA: caPath } = config;
  const names = createTopicNames(config.POSTHASTE_TOPIC_PREFIX);
  const sender = createWebhookSender({
    allowNetworks: config.POSTHASTE_ALLOW_NETWORKS,
    denyNetworks: config.POSTHASTE_DENY_NETWORKS,
    ports: config.POSTHASTE_WEBHOOK_PORTS,
    extraCa: caPath === undefined ? undefined : await readFile(caPath, "utf8"),
    registry,
    sends: "test-sends",
    clock,
  });
  const connection = connectKafka({
    ...kafkaAccess(config),
    clientId: "posthaste-control",
    log,
    metrics: createKafkaMetrics(registry),
  });
  const { openCodec = createOpenCodec({ ...registryAccess(config), names, log }) } = options;
  return { names, sender, connection, openCodec };
}
