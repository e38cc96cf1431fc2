/**
 * Destinations as records of `posthaste.destination-config`. The codec seals secrets as it encodes and opens them as it
 * decodes, so that no service handles ciphertext and no topic holds a secret in clear text.
 *
 * A secret is sealed for its place and for the record's revision: when somebody copies it from an older record into a
 * newer one, it does not open there. Older releases sealed secrets for the place alone; those open until their
 * destination is written again.
 */
import { type Destination, type SharedSecrets, WEBHOOKS, type WebhookUrl } from "@posthaste/core/config/destination";
import { PosthasteError } from "@posthaste/core/errors";
import type { Codec } from "./codec.ts";
import type { Sealed, SecretBox, SecretPlace } from "./secret-box.ts";

/** The record of `schemas/destination.avsc`. */
export interface DestinationRecord extends Omit<Destination, "type" | "secrets" | "urls" | "missingKeyIds"> {
  readonly type: string;
  readonly activeSecret: Sealed | null;
  readonly nextSecret: Sealed | null;
  readonly previousSecret: Sealed | null;
  readonly urls: readonly { readonly url: string; readonly headers: Readonly<Record<string, Sealed>> }[];
}

/**
 * The value of a secret that is set and whose key is missing. Settings never hold an empty secret, so it cannot be
 * taken for one.
 */
const UNOPENED = "";

/**
 * Codec of destinations. `decode` does not fail when a key is missing: it names the key in `missingKeyIds`. `encode`
 * seals all secrets under the active key, so that every write moves a destination to that key. It refuses a destination
 * with `missingKeyIds` (PosthasteError `unknown_secret_key`): writing it back would erase its secrets.
 */
export function createDestinationCodec(raw: Codec<DestinationRecord>, box: SecretBox): Codec<Destination> {
  return {
    encode: (destination) => raw.encode(sealDestination(destination, box)),
    decode: (bytes) => openDestination(raw.decode(bytes), box),
    prefetch: raw.prefetch,
  };
}

function sealDestination(destination: Destination, box: SecretBox): DestinationRecord {
  const { secrets, urls, missingKeyIds, ...plain } = destination;
  if (missingKeyIds !== null) {
    throw new PosthasteError(
      "unknown_secret_key",
      `destination ${destination.id} holds secrets under keys that this process lacks: ${missingKeyIds.join(", ")}`,
    );
  }
  const sealSecret = (slot: keyof SharedSecrets): Sealed | null => {
    const secret = secrets[slot];
    return secret === null ? null : box.seal(secret, at(secretPlace(destination.id, slot), destination.revision));
  };
  return {
    ...plain,
    activeSecret: sealSecret("active"),
    nextSecret: sealSecret("next"),
    previousSecret: sealSecret("previous"),
    urls: urls.map(({ url, headers }) => ({
      url,
      headers: mapValues(headers, (value, name) =>
        box.seal(value, at(headerPlace(destination.id, url, name), destination.revision)),
      ),
    })),
  };
}

function openDestination(record: DestinationRecord, box: SecretBox): Destination {
  if (record.type !== WEBHOOKS) {
    throw new PosthasteError("invalid_input", `destination ${record.id} is of the unknown type "${record.type}"`);
  }
  const missing = new Set<string>();
  const open = (sealed: Sealed, place: SecretPlace): string => {
    const secret = box.open(sealed, at(place, record.revision)) ?? box.open(sealed, place);
    if (secret === null) missing.add(sealed.keyId);
    return secret ?? UNOPENED;
  };
  const openSecret = (sealed: Sealed | null, slot: keyof SharedSecrets): string | null =>
    sealed === null ? null : open(sealed, secretPlace(record.id, slot));

  const secrets: SharedSecrets = {
    active: openSecret(record.activeSecret, "active"),
    next: openSecret(record.nextSecret, "next"),
    previous: openSecret(record.previousSecret, "previous"),
  };
  const urls: readonly WebhookUrl[] = record.urls.map(({ url, headers }) => ({
    url,
    headers: mapValues(headers, (sealed, name) => open(sealed, headerPlace(record.id, url, name))),
  }));
  return {
    id: record.id,
    revision: record.revision,
    type: record.type,
    name: record.name,
    sourceIds: [...record.sourceIds],
    enabled: record.enabled,
    settle: record.settle,
    rateLimitPerSecond: record.rateLimitPerSecond,
    standardWebhooks: record.standardWebhooks,
    responseLog: record.responseLog,
    payload: record.payload,
    secrets,
    urls,
    createdAtMs: record.createdAtMs,
    updatedAtMs: record.updatedAtMs,
    missingKeyIds: missing.size === 0 ? null : [...missing].sort(),
  };
}

function secretPlace(destinationId: string, slot: keyof SharedSecrets): SecretPlace {
  return ["destination", destinationId, "secret", slot];
}

function headerPlace(destinationId: string, url: string, name: string): SecretPlace {
  return ["destination", destinationId, "header", url, name];
}

function at(place: SecretPlace, revision: number): SecretPlace {
  return [...place, "revision", String(revision)];
}

function mapValues<From, To>(
  map: Readonly<Record<string, From>>,
  change: (value: From, key: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}
