/** The ingest process. */
import { kafkaAccess, registryAccess } from "@posthaste/runtime/connection-settings";
import { runService } from "@posthaste/runtime/run-service";
import { startIngest } from "./app.ts";
import { ingestSettings } from "./config.ts";

await runService({
  name: "ingest",
  version: "0.1.0",
  settings: ingestSettings,
  start: ({ config, host, logger, registry, traces }) =>
    startIngest({
      kafka: kafkaAccess(config),
      schemaRegistry: registryAccess(config),
      topicPrefix: config.POSTHASTE_TOPIC_PREFIX,
      host,
      port: config.POSTHASTE_INGEST_PORT,
      trustedProxies: config.POSTHASTE_TRUSTED_PROXIES,
      perSource: {
        calls: config.POSTHASTE_SOURCE_CALLS_PER_SECOND,
        bytes: config.POSTHASTE_SOURCE_BYTES_PER_SECOND,
      },
      maxPendingBytes: config.POSTHASTE_INGEST_PENDING_BYTES,
      log: logger,
      registry,
      traces,
    }),
});
