/** What is kept of a response: the start of its body, for the delivery log, with every known secret masked. */
import type { Destination } from "@posthaste/core/destination";

const MASK = "***";

/** Values shorter than this are no secrets, and masking them would make the answer unreadable. */
const SHORTEST_MASKED = 4;

const knownForms = new WeakMap<Destination, readonly string[]>();

/** The secrets of a destination in every form in which a receiver may echo them, the longest first. Made once an object. */
export function secretForms(destination: Destination): readonly string[] {
  const known = knownForms.get(destination);
  if (known !== undefined) return known;
  const made = makeForms(destination);
  knownForms.set(destination, made);
  return made;
}

function makeForms(destination: Destination): readonly string[] {
  const forms = new Set<string>();
  const { active, next, previous } = destination.secrets;
  for (const secret of [active, next, previous]) if (secret) addForms(forms, secret);
  for (const { headers } of destination.urls) {
    for (const value of Object.values(headers)) {
      if (value.length < SHORTEST_MASKED) continue;
      addForms(forms, value);
      // "Bearer x" and "Basic x" are often echoed without their scheme.
      const credentials = value.slice(value.indexOf(" ") + 1).trim();
      if (credentials.length >= SHORTEST_MASKED) addForms(forms, credentials);
    }
  }
  return [...forms].sort((left, right) => right.length - left.length);
}

function addForms(forms: Set<string>, secret: string): void {
  forms.add(secret);
  forms.add(JSON.stringify(secret).slice(1, -1));
  forms.add(encodeURIComponent(Buffer.from(secret, "utf8").toString("utf8")));
}

/** `text` with every one of the secrets replaced; `secrets` must be ordered with the longest first. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  let masked = text;
  for (const secret of secrets) masked = masked.replaceAll(secret, MASK);
  return masked;
}

/**
 * The answer as it is stored: at most `limit` characters, masked before it is cut, so that no part of a secret is left at
 * the end. Null for an empty body. Bytes that are not UTF-8 become U+FFFD.
 */
export function toAnswer(chunks: readonly Uint8Array[], secrets: readonly string[], limit: number): string | null {
  if (chunks.length === 0) return null;
  const text = maskSecrets(Buffer.concat(chunks).toString("utf8"), secrets);
  return text === "" ? null : text.slice(0, limit);
}
