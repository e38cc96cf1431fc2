/** A destination: where a source's events go, and how. */

/** The name of the one destination type in the integrations map and the catalogue; case sensitive. */
export const WEBHOOKS = "Webhooks";

export const MAX_WEBHOOK_URLS = 5;

/** `any`: one 2xx settles the delivery. `each`: every URL is retried and dead-lettered on its own. */
export const SETTLE_RULES = ["any", "each"] as const;
export type SettleRule = (typeof SETTLE_RULES)[number];

/** The requests whose response bodies the delivery log keeps the start of: those that failed, all, or none. */
export const RESPONSE_LOGS = ["failures", "all", "off"] as const;
export type ResponseLog = (typeof RESPONSE_LOGS)[number];

/** The content of request bodies: the documented shapes, or also the other fields that the call had. */
export const PAYLOADS = ["documented", "full"] as const;
export type Payload = (typeof PAYLOADS)[number];

export interface WebhookUrl {
  readonly url: string;
  /** Static headers of the requests to this URL, in clear. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A shared secret and its rotation: active -> active and next -> switched (the next became active, the old one is kept
 * as previous) -> retired (previous is forgotten). `X-Signature` is always by `active`; `webhook-signature` has one
 * signature by each secret that is not null.
 */
export interface SharedSecrets {
  readonly active: string | null;
  readonly next: string | null;
  readonly previous: string | null;
}

/** A destination as services hold it in memory: the newest record of `posthaste.destination-config`, secrets opened. */
export interface Destination {
  readonly id: string;
  /** Rises with every write; a table ignores a lower one (P5). */
  readonly revision: number;
  readonly type: typeof WEBHOOKS;
  readonly name: string;
  readonly sourceIds: readonly string[];
  readonly enabled: boolean;
  readonly settle: SettleRule;
  /** Requests per second, or null for no limit. */
  readonly rateLimitPerSecond: number | null;
  /** Whether requests also carry the Standard Webhooks headers. */
  readonly standardWebhooks: boolean;
  readonly responseLog: ResponseLog;
  readonly payload: Payload;
  readonly secrets: SharedSecrets;
  readonly urls: readonly WebhookUrl[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /**
   * The ids of the encryption keys that this process lacks; null when it opened every secret. While it is not null the
   * secrets and header values are not to be trusted: deliveries are deferred, never dead-lettered.
   */
  readonly missingKeyIds: readonly string[] | null;
}
