/**
 * What is sent: headers and target of each URL of a destination.
 *
 * All that does not change from one delivery to the next is made once for a Destination object and kept with it: tables
 * replace the object when the configuration changes, so identity is the cache's key and nothing has to be thrown away.
 */
import type { Destination, WebhookUrl } from "@posthaste/core/config/destination";
import { messageIdHeader } from "./message-id.ts";
import { createBodySigner, signStandard, standardKeys } from "./sign.ts";

const USER_AGENT = "Posthaste/1.0";

/** Where one URL of a destination leads, and the headers that every request to it has. */
export interface Target {
  readonly url: string;
  /** Scheme, host and port; null when the URL cannot be requested. */
  readonly origin: string | null;
  /** Path and query. */
  readonly path: string;
  /** Names and values alternately. */
  readonly fixedHeaders: readonly string[];
}

/** During a rotation a test signs with the next one. */
export type SigningSecret = "active" | "next";

/** A destination made ready for sending. */
export interface PreparedDestination {
  readonly targets: readonly Target[];
  /** By the active secret and by the next; null without the secret. */
  readonly signers: Readonly<Record<SigningSecret, ((body: Uint8Array) => string) | null>>;
  /** Keys of `webhook-signature`, empty when the destination did not opt in or has no secret. */
  readonly standardKeys: readonly Buffer[];
}

const prepared = new WeakMap<Destination, PreparedDestination>();

export function prepareDestination(destination: Destination): PreparedDestination {
  const known = prepared.get(destination);
  if (known !== undefined) return known;
  const { active, next } = destination.secrets;
  const made: PreparedDestination = {
    targets: destination.urls.map(toTarget),
    signers: {
      active: active === null ? null : createBodySigner(active),
      next: next === null ? null : createBodySigner(next),
    },
    standardKeys: destination.standardWebhooks ? standardKeys(destination.secrets) : [],
  };
  prepared.set(destination, made);
  return made;
}

function toTarget({ url, headers }: WebhookUrl): Target {
  const fixedHeaders = [
    "User-Agent",
    USER_AGENT,
    "Content-Type",
    "application/json",
    ...Object.entries(headers).flat(),
  ];
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || (parsed.protocol !== "http:" && parsed.protocol !== "https:")) {
    return { url, origin: null, path: "/", fixedHeaders };
  }
  return { url, origin: parsed.origin, path: parsed.pathname + parsed.search, fixedHeaders };
}

export interface DeliveryHeadersInput {
  readonly destination: Destination;
  readonly messageId: string;
  readonly attempt: number;
  readonly body: Uint8Array;
}

/**
 * The headers that all URLs of one attempt share: ids and signatures, names and values alternately. Signs once a
 * secret.
 */
export function deliveryHeaders(
  { destination, messageId, attempt, body }: DeliveryHeadersInput,
  signWith: SigningSecret,
  nowMs: number,
): readonly string[] {
  const { signers, standardKeys } = prepareDestination(destination);
  const id = messageIdHeader(messageId);
  const headers = ["X-Message-Id", id, "X-Attempt", String(attempt)];
  const signBody = signers[signWith];
  if (signBody !== null) headers.push("X-Signature", signBody(body));
  if (destination.standardWebhooks) {
    const timestampSeconds = Math.floor(nowMs / 1000);
    headers.push("webhook-id", id, "webhook-timestamp", String(timestampSeconds));
    if (standardKeys.length > 0) {
      headers.push("webhook-signature", signStandard(standardKeys, { id, timestampSeconds, body }));
    }
  }
  return headers;
}

/** The headers of a request as a person may see them: values that the customer set read `***`. */
export function shownHeaders(
  customerHeaders: Readonly<Record<string, string>>,
  headers: readonly string[],
): Record<string, string> {
  const shown: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? "";
    shown[name] = Object.hasOwn(customerHeaders, name) ? "***" : (headers[at + 1] ?? "");
  }
  return shown;
}
