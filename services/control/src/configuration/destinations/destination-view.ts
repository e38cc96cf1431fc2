/** A destination as the API shows it: a secret reads as set or not, and a masked header value as `***`. */
import { type Destination, PAYLOADS, RESPONSE_LOGS, SETTLE_RULES, WEBHOOKS } from "@posthaste/core/config/destination";
import { MASK } from "@posthaste/core/config/destination-settings";
import { SECRET_STAGES, secretStage } from "@posthaste/core/config/secret-rotation";
import { OPERATIONS_SOURCE } from "@posthaste/core/config/source";
import { pageOf } from "@posthaste/http-kit/page";
import type { Named } from "@posthaste/http-kit/route";
import { z } from "zod";

const time = z.iso.datetime();

const destination = z.object({
  id: z.string(),
  type: z.literal(WEBHOOKS),
  name: z.string(),
  sourceIds: z.array(z.string()),
  enabled: z.boolean(),
  settings: z.object({
    sharedSecret: z.object({ set: z.boolean() }).describe("Whether requests are signed. The secret never comes out."),
    settle: z.enum(SETTLE_RULES),
    rateLimitPerSecond: z.number().nullable(),
    standardWebhooks: z.boolean(),
    responseLog: z.enum(RESPONSE_LOGS),
    payload: z.enum(PAYLOADS),
    urls: z.array(
      z.object({
        url: z.string(),
        headers: z.record(z.string(), z.literal(MASK)).describe("Names of the static headers; values never come out."),
      }),
    ),
  }),
  secretStage: z
    .enum(SECRET_STAGES)
    .describe("Where the rotation of the shared secret stands: see /v1/destinations/{id}/secret."),
  missingKeyIds: z
    .array(z.string())
    .nullable()
    .describe("Encryption keys that this process lacks; while there are any, its deliveries are deferred."),
  revision: z.int().describe("Rises with every change."),
  createdAt: time,
  updatedAt: time,
});
export type DestinationAnswer = z.output<typeof destination>;

export const destinationAnswer: Named<typeof destination> = { name: "Destination", schema: destination };
export const destinationPage = { name: "DestinationPage", schema: pageOf(destination) };

/** `isSource`: the view leaves out the ids of sources that no longer exist. */
export function viewDestination(value: Destination, isSource: (id: string) => boolean): DestinationAnswer {
  return {
    id: value.id,
    type: value.type,
    name: value.name,
    sourceIds: value.sourceIds.filter((id) => id === OPERATIONS_SOURCE.id || isSource(id)),
    enabled: value.enabled,
    settings: {
      sharedSecret: { set: value.secrets.active !== null },
      settle: value.settle,
      rateLimitPerSecond: value.rateLimitPerSecond,
      standardWebhooks: value.standardWebhooks,
      responseLog: value.responseLog,
      payload: value.payload,
      urls: value.urls.map(({ url, headers }) => ({
        url,
        headers: Object.fromEntries(Object.keys(headers).map((name): [string, typeof MASK] => [name, MASK])),
      })),
    },
    secretStage: secretStage(value.secrets),
    missingKeyIds: value.missingKeyIds === null ? null : [...value.missingKeyIds],
    revision: value.revision,
    createdAt: new Date(value.createdAtMs).toISOString(),
    updatedAt: new Date(value.updatedAtMs).toISOString(),
  };
}
