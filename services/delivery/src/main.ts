/** The delivery service as a process. */
import { readFile } from "node:fs/promises";
import { kafkaAccess, registryAccess } from "@posthaste/runtime/connection-settings";
import { runService } from "@posthaste/runtime/run-service";
import packageJson from "../package.json" with { type: "json" };
import { startDelivery } from "./app.ts";
import { deliverySettings } from "./config.ts";

await runService({
  name: "delivery",
  version: packageJson.version,
  settings: deliverySettings,
  start: async ({ config, logger, registry, traces, fail }) =>
    startDelivery({
      kafka: kafkaAccess(config),
      schemaRegistry: registryAccess(config),
      topicPrefix: config.POSTHASTE_TOPIC_PREFIX,
      secretKeys: config.POSTHASTE_SECRET_KEYS,
      addresses: {
        allowNetworks: config.POSTHASTE_ALLOW_NETWORKS,
        denyNetworks: config.POSTHASTE_DENY_NETWORKS,
        ports: config.POSTHASTE_WEBHOOK_PORTS,
      },
      canaryOrigins: config.POSTHASTE_CANARY_ORIGINS,
      extraCa: config.POSTHASTE_EXTRA_CA && (await readFile(config.POSTHASTE_EXTRA_CA, "utf8")),
      schedule: { delaysMs: config.POSTHASTE_RETRY_SCHEDULE, windowMs: config.POSTHASTE_RETRY_WINDOW },
      attemptLog: config.POSTHASTE_ATTEMPT_LOG,
      metricsDestinations: config.POSTHASTE_METRICS_DESTINATIONS,
      windowRecords: config.POSTHASTE_DELIVERY_WINDOW,
      timing: { unknownSchemaMs: config.POSTHASTE_UNKNOWN_SCHEMA_WAIT },
      log: logger,
      registry,
      traces,
      onFailure: fail,
    }),
});
