/** The router as a process. */
import { kafkaAccess, registryAccess } from "@posthaste/runtime/connection-settings";
import { runService } from "@posthaste/runtime/run-service";
import packageJson from "../package.json" with { type: "json" };
import { startRouter } from "./app.ts";
import { routerSettings } from "./config.ts";

await runService({
  name: "router",
  version: packageJson.version,
  settings: routerSettings,
  start: ({ config, logger, registry, traces, fail }) =>
    startRouter({
      kafka: kafkaAccess(config),
      schemaRegistry: registryAccess(config),
      topicPrefix: config.POSTHASTE_TOPIC_PREFIX,
      dedupe: { limit: config.POSTHASTE_DEDUPE_IDS, windowMs: config.POSTHASTE_DEDUPE_WINDOW },
      timing: { unknownSchemaMs: config.POSTHASTE_UNKNOWN_SCHEMA_WAIT },
      log: logger,
      registry,
      traces,
      onFailure: fail,
    }),
});
