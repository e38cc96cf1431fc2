/** The router's settings. */
import { DEFAULT_TOPIC_PREFIX } from "@posthaste/contracts/topics";
import { UNKNOWN_SCHEMA_PATIENCE_MS } from "@posthaste/kafka/codec/awaited-schemas";
import { duration, wholeNumber } from "@posthaste/runtime/config";
import { withConnections } from "@posthaste/runtime/connection-settings";
import { z } from "zod";

export const routerSettings = withConnections({
  POSTHASTE_TOPIC_PREFIX: z.string().default(DEFAULT_TOPIC_PREFIX),
  /** How long a record waits for a schema that the registry says it does not know. */
  POSTHASTE_UNKNOWN_SCHEMA_WAIT: duration().default(UNKNOWN_SCHEMA_PATIENCE_MS),
  /** How long a message id is remembered. */
  POSTHASTE_DEDUPE_WINDOW: duration().default(600_000),
  /** How many message ids are remembered for each events partition; 0 switches the dedupe off. */
  POSTHASTE_DEDUPE_IDS: wholeNumber(0, 10_000_000).default(100_000),
});
