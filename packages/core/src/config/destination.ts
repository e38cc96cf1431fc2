/** A destination: where a source's events go, and how. */

/** The name of the one destination type in the integrations map and the catalogue; case sensitive. */
export const WEBHOOKS = "Webhooks";

export const MAX_WEBHOOK_URLS = 5;

/** `any`: one 2xx settles the delivery. `each`: every URL is retried and dead-lettered on its own. */
export const SETTLE_RULES = ["any", "each"] as const;
export type SettleRule = (typeof SETTLE_RULES)[number];

/**
 * Of which requests the start of the response body stands in the delivery log: of those that failed, of all, of none.
 */
export const RESPONSE_LOGS = ["failures", "all", "off"] as const;
export type ResponseLog = (typeof RESPONSE_LOGS)[number];

/** What the request bodies carry: the documented shapes, or what the call had besides, too. */
export const PAYLOADS = ["documented", "full"] as const;
export type Payload = (typeof PAYLOADS)[number];

export interface WebhookUrl {
  readonly url: string;
  /** Static headers of the requests to this URL, in clear. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The shared secret through its rotation: active -> active and next -> switched (the next became active, the old one is
 * kept as previous) -> retired (previous forgotten). `X-Signature` is always by `active`; `webhook-signature` carries
 * one signature by each that is not null.
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
   * Ids of the encryption keys that this process lacks, or null when every secret was opened. While it is not null the
   * secrets and header values are not to be trusted: deliveries are deferred, never dead-lettered.
   */
  readonly missingKeyIds: readonly string[] | null;
}
