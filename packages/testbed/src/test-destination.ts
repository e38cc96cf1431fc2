/** The destination that tests make their own from, as its settings say and as the config topic has it. */
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import type { Destination } from "@posthaste/core/config/destination";

const PLAIN = {
  revision: 1,
  type: "Webhooks",
  sourceIds: ["src_1"],
  enabled: true,
  settle: "any",
  rateLimitPerSecond: null,
  standardWebhooks: false,
  responseLog: "failures",
  payload: "documented",
  createdAtMs: 0,
  updatedAtMs: 0,
} as const;

/** Of the source `src_1`; it has a secret and no URL, but for the fields of `change`. */
export function testDestination(id: string, change: Partial<Destination> = {}): Destination {
  return {
    ...PLAIN,
    id,
    name: id,
    secrets: { active: "shared", next: null, previous: null },
    urls: [],
    missingKeyIds: null,
    ...change,
  };
}

/** Of the source `src_1`; it has a URL and no secret, but for the fields of `change`. */
export function testDestinationRecord(id: string, change: Partial<DestinationRecord> = {}): DestinationRecord {
  return {
    ...PLAIN,
    id,
    name: id,
    activeSecret: null,
    nextSecret: null,
    previousSecret: null,
    urls: [{ url: "https://receiver.test/", headers: {} }],
    ...change,
  };
}
