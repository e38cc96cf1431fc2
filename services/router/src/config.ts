/** The router's settings. */
import { DEFAULT_TOPIC_PREFIX } from "@posthaste/contracts/topics";
import { duration, wholeNumber } from "@posthaste/runtime/config";
import { withConnections } from "@posthaste/runtime/connection-settings";
import { z } from "zod";

export const routerSettings = withConnections({
  POSTHASTE_TOPIC_PREFIX: z.string().default(DEFAULT_TOPIC_PREFIX),
  /** How long a message id is remembered. */
  POSTHASTE_DEDUPE_WINDOW: duration().default(600_000),
  /** Message ids remembered for each events partition; 0 switches the dedupe off. */
  POSTHASTE_DEDUPE_IDS: wholeNumber(0, 10_000_000).default(100_000),
});
