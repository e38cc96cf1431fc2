/** Message ids as header values: callers choose ids freely, a header holds printable ASCII. */
import { createHash } from "node:crypto";

const PLAIN = /^[\x21-\x24\x26-\x7e]{1,256}$/;

/** The longest value, in characters: with longer ones, receivers begin to refuse requests for the size of headers. */
const LONGEST = 256;

/**
 * Returns the value of `X-Message-Id` and `webhook-id`. An id of 1 to 256 printable ASCII characters without `%` is its
 * own value. In any other id, each byte of its UTF-8 that is `%` or no printable ASCII is percent-encoded, so that
 * different ids stay different; a result of more than 256 characters is replaced by `sha256:` and the hash of the id in
 * hex. The same id always gives the same value, which is the receiver's idempotency key.
 */
export function messageIdHeader(messageId: string): string {
  if (PLAIN.test(messageId)) return messageId;
  const bytes = Buffer.from(messageId, "utf8");
  const encoded = Array.from(bytes, encodeByte).join("");
  return encoded.length <= LONGEST ? encoded : `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function encodeByte(byte: number): string {
  const isPlain = byte > 0x20 && byte < 0x7f && byte !== 0x25;
  return isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
