/**
 * Secrets at rest: AES-256-GCM under a key of the environment, the key's id beside the ciphertext so that keys rotate.
 *
 * Every secret is bound to its place (additional authenticated data): a ciphertext copied to another destination, slot,
 * URL, header or revision does not open there.
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

/** A secret as it stands in a record; the fields of `Sealed` in `schemas/destination.avsc`. */
export interface Sealed {
  readonly keyId: string;
  /** 12 bytes, random for each sealing. */
  readonly nonce: Buffer;
  /** The secret, then the 16 bytes of the tag. */
  readonly ciphertext: Buffer;
}

/**
 * Where a secret stands, from the outside in: the destination's id, the slot, and what else tells it from its
 * neighbours.
 */
export type SecretPlace = readonly string[];

export interface SecretBox {
  /** The key that seals. */
  readonly activeKeyId: string;
  readonly seal: (secret: string, place: SecretPlace) => Sealed;
  /**
   * The secret, or null when no key here opens it: its key is unknown, or another key goes by that id, or the
   * ciphertext was sealed for another place. Never throws: a record that cannot be opened waits for its key, it does
   * not stop a table.
   */
  readonly open: (sealed: Sealed, place: SecretPlace) => string | null;
}

/** A box that seals with the first key and opens with all. `nonce` is for tests; it must never repeat under one key. */
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
    // The one thing `final` throws for is a tag that does not match.
    return null;
  }
}

/** JSON keeps the parts apart: ["a", "bc"] and ["ab", "c"] are different places. */
function placeBytes(place: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify(place), "utf8");
}

/**
 * Reads `id:base64 of 32 bytes`, comma list, the first being the active key (`POSTHASTE_SECRET_KEYS`).
 * Throws PosthasteError `invalid_config` that names the entry by its place and id, and shows no part of a key.
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
