/**
 * SCRAM (RFC 5802, RFC 7677): a login in two messages that shows the password to nobody on the network, and in which
 * the broker proves that it knows the password too. Kafka has no channel binding, so this login uses none.
 */
import { createHash, createHmac, pbkdf2, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { PosthasteError } from "@posthaste/core/errors";

export type ScramDigest = "sha256" | "sha512";

export interface ScramLogin {
  readonly digest: ScramDigest;
  readonly username: string;
  readonly password: string;
  /** Printable ASCII without commas that no earlier login used. */
  readonly nonce: string;
}

/** Sends a message of the mechanism and resolves with the broker's answer. */
export type Exchange = (message: Buffer) => Promise<Buffer>;

const deriveKey = promisify(pbkdf2);
const KEY_BYTES = { sha256: 32, sha512: 64 } as const;
/** RFC 7677 demands at least so many: with fewer, an eavesdropper on one login guesses the password faster. */
const MIN_ITERATIONS = 4096;
/** More would keep a thread of this process busy for seconds. */
const MAX_ITERATIONS = 1_000_000;
/** The header that says: no channel binding, no other identity. `CHANNEL_BINDING` holds the same in base64. */
const GS2_HEADER = "n,,";
const CHANNEL_BINDING = "c=biws";

/**
 * Logs in. Rejects as `exchange` does, or with `broker_refuses` when the answering side proves no knowledge of the
 * password.
 */
export async function runScram({ digest, username, password, nonce }: ScramLogin, exchange: Exchange): Promise<void> {
  const clientFirst = `n=${username.replaceAll("=", "=3D").replaceAll(",", "=2C")},r=${nonce}`;
  const serverFirst = (await exchange(Buffer.from(`${GS2_HEADER}${clientFirst}`))).toString();
  const { r: serverNonce = "", s: salt = "", i: iterations = "" } = readAttributes(serverFirst);
  const rounds = Number(iterations);
  if (!serverNonce.startsWith(nonce) || serverNonce === nonce) throw distrust("another nonce");
  if (!(rounds >= MIN_ITERATIONS && rounds <= MAX_ITERATIONS)) throw distrust(`${iterations} iterations`);

  const hmac = (key: Buffer, text: string): Buffer => createHmac(digest, key).update(text).digest();
  const salted = await deriveKey(password, Buffer.from(salt, "base64"), rounds, KEY_BYTES[digest], digest);
  const clientKey = hmac(salted, "Client Key");
  const storedKey = createHash(digest).update(clientKey).digest();
  const clientLast = `${CHANNEL_BINDING},r=${serverNonce}`;
  const whole = `${clientFirst},${serverFirst},${clientLast}`;
  const signature = hmac(storedKey, whole);
  const proof = clientKey.map((byte, index) => byte ^ (signature[index] ?? 0));

  const serverLast = await exchange(Buffer.from(`${clientLast},p=${Buffer.from(proof).toString("base64")}`));
  const shown = Buffer.from(readAttributes(serverLast.toString())["v"] ?? "", "base64");
  const expected = hmac(hmac(salted, "Server Key"), whole);
  if (shown.length !== expected.length || !timingSafeEqual(shown, expected)) throw distrust("a wrong signature");
}

/** The attributes of a message such as `r=…,s=…,i=…`, by their letter. */
function readAttributes(message: string): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(message.split(",").map((attribute) => [attribute.slice(0, 1), attribute.slice(2)]));
}

function distrust(what: string): PosthasteError {
  const text = `the broker answers the login with ${what}: it does not know the password, or is none of yours`;
  return new PosthasteError("broker_refuses", text, { retryable: true });
}
