/** A destination for tests: one URL, no secret, unless told otherwise. */
import type { Destination } from "@posthaste/core/config/destination";

export function aDestination(fields: Partial<Destination> = {}): Destination {
  return {
    id: "destination-1",
    revision: 1,
    type: "Webhooks",
    name: "Receiver",
    sourceIds: ["source-1"],
    enabled: true,
    settle: "any",
    rateLimitPerSecond: null,
    standardWebhooks: false,
    responseLog: "failures",
    payload: "documented",
    secrets: { active: null, next: null, previous: null },
    urls: [{ url: "https://receiver.example/hook", headers: {} }],
    createdAtMs: 0,
    updatedAtMs: 0,
    missingKeyIds: null,
    ...fields,
  };
}
