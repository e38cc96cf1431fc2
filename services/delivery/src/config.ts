/** Settings of the delivery service. */
import { parseSecretKeys } from "@posthaste/contracts/secret-box";
import { DEFAULT_TOPIC_PREFIX } from "@posthaste/contracts/topics";
import { DEFAULT_RETRY_DELAYS_MS } from "@posthaste/core/delivery/backoff";
import { UNKNOWN_SCHEMA_PATIENCE_MS } from "@posthaste/kafka/codec/awaited-schemas";
import { duration, durations, origins, parsedBy, wholeNumber } from "@posthaste/runtime/config";
import { withConnections } from "@posthaste/runtime/connection-settings";
import { parseNetworks, parsePorts } from "@posthaste/webhook/address-guard";
import { z } from "zod";
import { DEFAULT_DESTINATION_CAP } from "./metrics.ts";
import { parseAttemptLogSetting } from "./outcome/attempt-log.ts";

const FOUR_HOURS_MS = 4 * 3_600_000;

/** `all`, `failures`, `off`, or the share of delivered attempts that is logged beside every failure. */
const attemptLog = () =>
  z.string().transform((text, context) => {
    const setting = parseAttemptLogSetting(text);
    if (setting !== undefined) return setting;
    context.addIssue({ code: "custom", message: "expected all, failures, off, or a share such as 0.1" });
    return z.NEVER;
  });

export const deliverySettings = withConnections({
  POSTHASTE_TOPIC_PREFIX: z.string().default(DEFAULT_TOPIC_PREFIX),
  /** The keys that the destinations' secrets are sealed with; the same as control's. */
  POSTHASTE_SECRET_KEYS: parsedBy(
    parseSecretKeys,
    "expected id:base64 of 32 bytes, divided by commas; all of them open",
  ),
  /** CIDRs of private networks that webhooks may reach. */
  POSTHASTE_ALLOW_NETWORKS: parsedBy(parseNetworks, "expected CIDRs divided by commas").default([]),
  /** CIDRs that webhooks may not reach, even where they are public or allowed. */
  POSTHASTE_DENY_NETWORKS: parsedBy(parseNetworks, "expected CIDRs divided by commas").default([]),
  /** The only ports that webhooks may reach; any when empty. */
  POSTHASTE_WEBHOOK_PORTS: parsedBy(parsePorts, "expected ports divided by commas").default([]),
  /** The origins of control processes that get canaries, which no other setting of addresses holds back. */
  POSTHASTE_CANARY_ORIGINS: origins().default([]),
  POSTHASTE_RETRY_SCHEDULE: durations()
    .refine((delays) => delays.every((delayMs) => delayMs > 0), "expected delays longer than nothing")
    .default(DEFAULT_RETRY_DELAYS_MS),
  POSTHASTE_RETRY_WINDOW: duration().default(FOUR_HOURS_MS),
  /** The path of a PEM file with certificates to trust besides the usual ones. */
  POSTHASTE_EXTRA_CA: z.string().optional(),
  POSTHASTE_ATTEMPT_LOG: attemptLog().default({ failures: true, deliveredShare: 1 }),
  /** How long a record waits for a schema that the registry says it does not know. */
  POSTHASTE_UNKNOWN_SCHEMA_WAIT: duration().default(UNKNOWN_SCHEMA_PATIENCE_MS),
  /** The most destinations with metrics of their own; the others count as `other`. */
  POSTHASTE_METRICS_DESTINATIONS: wholeNumber(0, 10_000).default(DEFAULT_DESTINATION_CAP),
  /** How many deliveries the window of one partition holds at once. */
  POSTHASTE_DELIVERY_WINDOW: wholeNumber(1, 100_000).default(2000),
});
