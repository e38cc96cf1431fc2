/** Settings of control. */
import { parseSecretKeys } from "@posthaste/contracts/secret-box";
import { DEFAULT_TOPIC_PREFIX } from "@posthaste/contracts/topics";
import { UNKNOWN_SCHEMA_PATIENCE_MS } from "@posthaste/kafka/codec/awaited-schemas";
import { commaList, duration, flag, origin, origins, parsedBy, port, wholeNumber } from "@posthaste/runtime/config";
import { withConnections } from "@posthaste/runtime/connection-settings";
import { parseNetworks, parsePorts } from "@posthaste/webhook/address-guard";
import { z } from "zod";

const expectedServices =
  "expected the other services as name=URL of their /readyz, divided by commas, such as ingest=http://127.0.0.1:9101/readyz";

/** `ingest=http://…/readyz,router=…`. */
const serviceAddresses = commaList().transform((entries, context) =>
  entries.map((entry) => {
    const match = /^([a-z][a-z0-9-]*)=(https?:\/\/\S+)$/.exec(entry);
    if (match?.[1] === undefined || match[2] === undefined || !URL.canParse(match[2])) {
      context.addIssue({ code: "custom", message: `${expectedServices}; found ${found(entries, entry)}` });
      return z.NEVER;
    }
    return { name: match[1], url: match[2] };
  }),
);

/**
 * The entry in quotes. Where the list may hold a password, only the entry's number, since a comma in a password makes
 * two entries of one.
 */
function found(entries: readonly string[], entry: string): string {
  const mayHoldPassword = entries.some((each) => each.includes("@"));
  return mayHoldPassword ? `another thing in entry ${entries.indexOf(entry) + 1}` : JSON.stringify(entry);
}

const ROLES = ["api", "jobs"] as const;
export type ControlRole = (typeof ROLES)[number];

const expectedRoles = "expected api, jobs, or both divided by a comma";

/** The parts of control's work that a process does. */
const roles = commaList()
  .refine((entries) => entries.every((entry) => ROLES.some((role) => role === entry)), expectedRoles)
  .transform((entries) => entries as readonly string[] as readonly ControlRole[]);

/** An address such as `http://ingest:8080`. */
const address = () =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
      "expected an address such as http://ingest:8080",
    );

export const controlSettings = withConnections({
  POSTHASTE_TOPIC_PREFIX: z.string().default(DEFAULT_TOPIC_PREFIX),
  POSTHASTE_CONTROL_PORT: port().default(8090),
  /** `api` serves the API and the console; `jobs` runs replays, audiences, left deletions and ends suppressions. */
  POSTHASTE_CONTROL_ROLES: roles.default(ROLES),
  POSTHASTE_ADMIN_TOKEN: z
    .string("expected the token that callers of the control API send")
    .regex(/^[\x21-\x7e]+$/, "expected a token of printable ASCII without spaces: it travels in a header"),
  /** Where browsers reach the console: 127.0.0.1 and localhost on control's port when there is none. */
  POSTHASTE_CONSOLE_ORIGINS: origins().default([]),
  POSTHASTE_SECRET_KEYS: parsedBy(
    parseSecretKeys,
    "expected id:base64 of 32 bytes, divided by commas; the first seals, all open",
  ),
  /** The other services whose readiness is part of control's. */
  POSTHASTE_READY_URLS: serviceAddresses.default([]),
  /** Ingest's address as control and senders reach it, with the path that stands before `/v1`, for sample calls. */
  POSTHASTE_INGEST_URL: address().optional(),
  /** Events that this process sends through the whole system to itself. */
  POSTHASTE_CANARY: flag().default(false),
  /** Where delivery reaches this process, one of its POSTHASTE_CANARY_ORIGINS; where it listens when unset. */
  POSTHASTE_CANARY_ORIGIN: origin().optional(),
  /** Receivers on control's own port to try deliveries with; for local use. */
  POSTHASTE_TEST_RECEIVER: flag().default(false),
  /** CIDRs of private networks that a test-send may reach; as delivery's. */
  POSTHASTE_ALLOW_NETWORKS: parsedBy(parseNetworks, "expected CIDRs divided by commas").default([]),
  /** CIDRs that a test-send may not reach, public or allowed as they may be; as delivery's. */
  POSTHASTE_DENY_NETWORKS: parsedBy(parseNetworks, "expected CIDRs divided by commas").default([]),
  /** The only ports that a test-send may reach; any when empty; as delivery's. */
  POSTHASTE_WEBHOOK_PORTS: parsedBy(parsePorts, "expected ports divided by commas").default([]),
  /** Path of a PEM file with certificates to trust besides the usual ones; as delivery's. */
  POSTHASTE_EXTRA_CA: z.string().optional(),
  /** A folder in which the delivery log's cache outlives a restart; without it the cache lives in memory. */
  POSTHASTE_CONTROL_DATA_DIR: z.string().optional(),
  /** The most identifies of audiences and computed traits per second that this process sends. */
  POSTHASTE_AUDIENCE_RATE: wholeNumber(1, 1_000_000).default(500),
  /** The most users per second that syncs of this process take in, and the most changes per second that they write. */
  POSTHASTE_AUDIENCE_SYNC_RATE: wholeNumber(100, 1_000_000).default(5000),
  /** How long the sync of a killed process keeps other processes from the audience. */
  POSTHASTE_AUDIENCE_LEASE: duration().default(15_000),
  /**
   * The most attempts, and the most dead letters, that the delivery log holds; by default more with a folder than
   * without.
   */
  POSTHASTE_DELIVERY_LOG_ENTRIES: wholeNumber(1, 1_000_000_000).optional(),
  /** After so many days a suppression ends by itself; never when unset. */
  POSTHASTE_SUPPRESSION_DAYS: wholeNumber(1, 36_500).optional(),
  /** How long a record waits for a schema that the registry says it does not know. */
  POSTHASTE_UNKNOWN_SCHEMA_WAIT: duration().default(UNKNOWN_SCHEMA_PATIENCE_MS),
  /** The settings of the program that makes the topics, for the doctor: see topics-main.ts. */
  POSTHASTE_PARTITIONS: wholeNumber(1, 256).optional(),
  POSTHASTE_REPLICATION_FACTOR: wholeNumber(1, 10).optional(),
  POSTHASTE_MIN_INSYNC_REPLICAS: wholeNumber(1, 10).optional(),
  /** How long the delivery log holds attempts. */
  POSTHASTE_DELIVERY_LOG_KEEP: duration().default(7 * 24 * 60 * 60 * 1000),
});
export type ControlConfig = z.output<typeof controlSettings>;
