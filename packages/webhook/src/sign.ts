/**
 * Signs the exact bytes of a request's body.
 *
 * `X-Signature` is keyed with the UTF-8 bytes of the secret's text, whatever it looks like. For the Standard Webhooks
 * signature a secret of the form `whsec_<base64>` stands for the decoded bytes, as that standard has it; any other
 * secret is again its UTF-8 bytes, which receivers verify with their library's "raw" format.
 */
import { createHmac } from "node:crypto";
import type { SharedSecrets } from "@posthaste/core/config/destination";
import { HmacSha1 } from "./hmac.ts";

const STANDARD_PREFIX = "whsec_";

/** Matches base64 with its padding. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Makes the signer that computes `X-Signature` for a body: HMAC-SHA1 in lower-case hex. */
export function createBodySigner(secret: string): (body: Uint8Array) => string {
  const hmac = new HmacSha1(Buffer.from(secret, "utf8"));
  return (body) => hmac.sign(body);
}

/** Returns the key that a shared secret stands for in Standard Webhooks. */
export function standardKey(secret: string): Buffer {
  const encoded = secret.slice(STANDARD_PREFIX.length);
  const decodable = secret.startsWith(STANDARD_PREFIX) && encoded !== "" && BASE64.test(encoded);
  return decodable ? Buffer.from(encoded, "base64") : Buffer.from(secret, "utf8");
}

/** Returns a key for each live secret: first the active one, then the next, then the one that is kept for an undo. */
export function standardKeys(secrets: SharedSecrets): readonly Buffer[] {
  const live = [secrets.active, secrets.next, secrets.previous].filter((secret) => secret !== null);
  return [...new Set(live)].map(standardKey);
}

export interface StandardContent {
  /** The value of `webhook-id`. */
  readonly id: string;
  /** The value of `webhook-timestamp`: seconds since the epoch. */
  readonly timestampSeconds: number;
  readonly body: Uint8Array;
}

/** The value of `webhook-signature`: `v1,<base64 HMAC-SHA256>` by each key, separated by a space. */
export function signStandard(keys: readonly Buffer[], { id, timestampSeconds, body }: StandardContent): string {
  const head = `${id}.${timestampSeconds}.`;
  return keys.map((key) => `v1,${createHmac("sha256", key).update(head).update(body).digest("base64")}`).join(" ");
}
