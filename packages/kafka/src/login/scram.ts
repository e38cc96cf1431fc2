/**
 * SCRAM (RFC 5802, RFC 7677): a login in two messages that shows the password to nobody, and in which the broker shows
 * that it knows it too. Without channel binding, which Kafka has not.
 */
import { createHash, createHmac, pbkdf2, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { PosthasteError } from "@posthaste/core/errors";

export type ScramDigest = "sha256" | "sha512";

export interface ScramLogin {
  readonly digest: ScramDigest;
  readonly username: string;
  readonly password: string;
  /** Printable ASCII without commas that no login had before. */
  readonly nonce: string;
}

/** Sends a message of the mechanism; resolves with the broker's answer. */
export type Exchange = (message: Buffer) => Promise<Buffer>;

const deriveKey = promisify(pbkdf2);
const KEY_BYTES = { sha256: 32, sha512: 64 } as const;
/** RFC 7677: with fewer, whoever reads one login on the way guesses the password faster. */
const MIN_ITERATIONS = 4096;
/** A broker that asks for more keeps a thread busy for seconds. */
const MAX_ITERATIONS = 1_000_000;
/** No channel binding, no other identity; and the same in base64. */
const GS2_HEADER = "n,,";
const CHANNEL_BINDING = "c=biws";

/** Rejects as `exchange` does, or with `broker_refuses` when what answers does not know the password. */
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

/** `r=…,s=…,i=…`. */
function readAttributes(message: string): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(message.split(",").map((attribute) => [attribute.slice(0, 1), attribute.slice(2)]));
}

function distrust(what: string): PosthasteError {
  const text = `the broker answers the login with ${what}: it does not know the password, or is none of yours`;
  return new PosthasteError("broker_refuses", text, { retryable: true });
}
