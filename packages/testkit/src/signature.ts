/**
 * The receiver's side of the signature, written from the product's description alone and sharing nothing with the
 * sender.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** The parts of a request that a receiver needs to check it. */
export interface SignedRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

/** Lowercase hex HMAC-SHA1 of `body` under `secret`: the value that `X-Signature` must have. */
export function signatureOf(secret: string, body: Uint8Array | string): string {
  return createHmac("sha1", secret).update(body).digest("hex");
}

/**
 * True when `X-Signature` is right over the bytes that came and over the receiver's own re-serialisation of them, since
 * receivers verify either way. A missing header or a body that is no JSON is false.
 */
export function hasGoodSignature(request: SignedRequest, secret: string): boolean {
  const given = request.headers["x-signature"];
  if (given === undefined) return false;
  const reserialised = reserialise(request.body);
  return (
    reserialised !== undefined &&
    isSame(given, signatureOf(secret, request.body)) &&
    isSame(given, signatureOf(secret, reserialised))
  );
}

function reserialise(body: Uint8Array): string | undefined {
  try {
    return JSON.stringify(JSON.parse(Buffer.from(body).toString("utf8")));
  } catch {
    return undefined;
  }
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
