/** Message ids as header values: callers choose ids freely, a header holds printable ASCII. */
import { createHash } from "node:crypto";

const PLAIN = /^[\x21-\x24\x26-\x7e]{1,256}$/;

/** Longer than this and receivers begin to refuse the request for the size of its headers. */
const LONGEST = 256;

/**
 * The value of `X-Message-Id` and `webhook-id`: the id itself when it is 1 to 256 printable ASCII characters without
 * `%`. Else the bytes of its UTF-8 that are not are percent-encoded, `%` too, so that different ids stay different; and
 * what is then longer than 256 characters is replaced by `sha256:` and the hash of the id in hex. The same id always
 * gives the same value: it is the receiver's idempotency key.
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
