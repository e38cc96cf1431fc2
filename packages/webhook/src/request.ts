/**
 * Makes the headers and the target of the requests to each URL of a destination.
 *
 * Parts that do not change from one delivery to the next are made once for a Destination object and kept with it.
 * Tables replace the object when the configuration changes, so the object is the cache's key and nothing needs to be
 * dropped.
 */
import type { Destination, WebhookUrl } from "@posthaste/core/config/destination";
import { messageIdHeader } from "./message-id.ts";
import { createBodySigner, signStandard, standardKeys } from "./sign.ts";

const USER_AGENT = "Posthaste/1.0";

/** The target of a destination's URL, and the headers that all requests to it have. */
export interface Target {
  readonly url: string;
  /** The URL's scheme, host and port; null when no request can be made to the URL. */
  readonly origin: string | null;
  /** The URL's path and query. */
  readonly path: string;
  /** Names and values alternately. */
  readonly fixedHeaders: readonly string[];
}

/** The secret to sign with: during a rotation, a test request signs with the next one. */
export type SigningSecret = "active" | "next";

/** A destination made ready for sending. */
export interface PreparedDestination {
  readonly targets: readonly Target[];
  /** The signers by the active secret and by the next; null without that secret. */
  readonly signers: Readonly<Record<SigningSecret, ((body: Uint8Array) => string) | null>>;
  /** The keys of `webhook-signature`; empty when the destination did not opt in or has no secret. */
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
 * Makes the headers that all requests of an attempt share: ids and signatures, names and values alternately. It signs
 * once with each secret.
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

/** Returns a request's headers as people may see them: `***` stands for values that the customer set. */
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

/**
 * The headers of a request to each URL of a destination as people may see them, for which no body is needed. `***`
 * stands for values that the customer set, for signatures, and for the time that is signed.
 */
export function shownRequests(
  destination: Destination,
  { messageId, attempt }: { readonly messageId: string; readonly attempt: number },
): readonly { readonly url: string; readonly headers: Readonly<Record<string, string>> }[] {
  const { targets } = prepareDestination(destination);
  const body = Buffer.alloc(0);
  const own = deliveryHeaders({ destination, messageId, attempt, body }, "active", 0);
  return targets.map(({ url, fixedHeaders }, index) => {
    const shown = shownHeaders(destination.urls[index]?.headers ?? {}, [...fixedHeaders, ...own]);
    for (const name of SIGNED) if (shown[name] !== undefined) shown[name] = "***";
    return { url, headers: shown };
  });
}

/** The headers whose values depend on the secret or on the time of the request. */
const SIGNED = ["X-Signature", "webhook-timestamp", "webhook-signature"];
