/**
 * Secrets at rest: AES-256-GCM under a key from the environment. The key's id is stored beside the ciphertext, so that
 * keys can be rotated.
 *
 * Every secret is bound to its place (as additional authenticated data): a ciphertext that somebody copies to another
 * destination, slot, URL, header or revision does not open there.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { PosthasteError } from "@posthaste/core/errors";

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface SecretKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

/** A secret as a record holds it: the fields of `Sealed` in `schemas/destination.avsc`. */
export interface Sealed {
  readonly keyId: string;
  /** 12 bytes, drawn at random for each sealing. */
  readonly nonce: Buffer;
  /** The encrypted secret, followed by the 16 bytes of the authentication tag. */
  readonly ciphertext: Buffer;
}

/**
 * The place of a secret, from the outside in: the kind of record, its id, the slot, and whatever else tells the secret
 * from its neighbours.
 */
export type SecretPlace = readonly string[];

export interface SecretBox {
  /** The id of the key under which the box seals. */
  readonly activeKeyId: string;
  readonly seal: (secret: string, place: SecretPlace) => Sealed;
  /**
   * Opens a secret. Returns null when no key of this box opens it: the key is unknown, another key has the same id, or
   * the ciphertext was sealed for another place. Never throws: a record that cannot be opened waits for its key, and
   * must not stop a table.
   */
  readonly open: (sealed: Sealed, place: SecretPlace) => string | null;
}

/**
 * Makes a box that seals under the first key and opens with all of them. `nonce` is for tests; it must not return the
 * same bytes twice under one key.
 */
export function createSecretBox(
  keys: readonly SecretKey[],
  nonce: () => Buffer = () => randomBytes(NONCE_BYTES),
): SecretBox {
  const [active] = keys;
  if (active === undefined) throw new PosthasteError("invalid_config", "a secret box needs at least one key");
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  return {
    activeKeyId: active.id,
    seal: (secret, place) => {
      const iv = nonce();
      const cipher = createCipheriv(ALGORITHM, active.key, iv).setAAD(placeBytes(place));
      const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return { keyId: active.id, nonce: iv, ciphertext };
    },
    open: (sealed, place) => {
      const key = byId.get(sealed.keyId);
      return key === undefined ? null : decrypt(key, sealed, place);
    },
  };
}

function decrypt(key: Buffer, { nonce, ciphertext }: Sealed, place: SecretPlace): string | null {
  if (nonce.length !== NONCE_BYTES || ciphertext.length < TAG_BYTES) return null;
  const end = ciphertext.length - TAG_BYTES;
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(placeBytes(place))
    .setAuthTag(ciphertext.subarray(end));
  try {
    return Buffer.concat([decipher.update(ciphertext.subarray(0, end)), decipher.final()]).toString("utf8");
  } catch {
    // `final` throws only when the tag does not match.
    return null;
  }
}

/** JSON keeps the parts apart: ["a", "bc"] and ["ab", "c"] are different places. */
function placeBytes(place: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify(place), "utf8");
}

/**
 * Reads keys from `POSTHASTE_SECRET_KEYS`: entries `id:base64 of 32 bytes`, divided by commas, the active key first.
 * Throws a PosthasteError `invalid_config` that names the entry by its number and id, and shows no part of a key.
 */
export function parseSecretKeys(text: string): readonly SecretKey[] {
  const entries = text.split(",").map((entry) => entry.trim());
  const keys = entries.map((entry, index) => parseSecretKey(entry, index + 1));
  const repeated = keys.find(({ id }, index) => keys.findIndex((key) => key.id === id) !== index);
  if (repeated !== undefined) throw new PosthasteError("invalid_config", `the key id "${repeated.id}" stands twice`);
  return keys;
}

function parseSecretKey(entry: string, place: number): SecretKey {
  const match = /^([A-Za-z0-9._-]{1,64}):([A-Za-z0-9+/]+={0,2})$/.exec(entry);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new PosthasteError(
      "invalid_config",
      `entry ${place}: expected id:base64 of ${KEY_BYTES} bytes, divided by commas, such as k1:$(openssl rand -base64 ${KEY_BYTES})`,
    );
  }
  const key = Buffer.from(match[2], "base64");
  if (key.length !== KEY_BYTES) {
    throw new PosthasteError(
      "invalid_config",
      `entry ${place} ("${match[1]}"): expected base64 of ${KEY_BYTES} bytes, found ${key.length}`,
    );
  }
  return { id: match[1], key };
}
