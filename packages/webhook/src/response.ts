/** What is kept of a response: the start of its body, for the delivery log, with every known secret masked. */
import type { Destination } from "@posthaste/core/config/destination";
import { maskSecrets } from "./mask.ts";

/** Values shorter than this are no secrets, and masking them would make the answer unreadable. */
const SHORTEST_MASKED = 4;

/** Of fewer characters an innocent text may hold the same. */
const SHORTEST_BASE64 = 6;

const knownForms = new WeakMap<Destination, readonly string[]>();

/**
 * The secrets of a destination in every form in which a receiver may echo them, the longest first. Made once an object.
 */
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
      if (/^basic /i.test(value)) addBasic(forms, credentials);
    }
  }
  return [...forms].sort((left, right) => right.length - left.length);
}

/** A receiver that reads Basic knows the pair, and the password by itself. */
function addBasic(forms: Set<string>, credentials: string): void {
  const pair = Buffer.from(credentials, "base64").toString("utf8");
  const password = pair.slice(pair.indexOf(":") + 1);
  for (const known of [pair, password]) if (known.length >= SHORTEST_MASKED) addForms(forms, known);
}

/** The secret and its base64; escapes of single characters are undone when the text is read, see mask.ts. */
function addForms(forms: Set<string>, secret: string): void {
  forms.add(secret);
  const bytes = Buffer.from(secret, "utf8");
  for (const alphabet of ["base64", "base64url"] as const) {
    const whole = bytes.toString(alphabet);
    forms.add(whole);
    // In a longer text it begins at any of three places; the characters that it shares with its neighbours are left
    // out.
    for (const before of [0, 1, 2]) {
      const text = Buffer.concat([Buffer.alloc(before), bytes]).toString(alphabet);
      const shared = before === 0 ? 0 : before + 1;
      const part = text.slice(shared, Math.floor(((before + bytes.length) * 8) / 6));
      if (part.length >= SHORTEST_BASE64) forms.add(part);
    }
  }
}

/**
 * The answer as it is stored: at most `limit` characters, masked before it is cut, so that no part of a secret is left
 * at the end. Null for an empty body. Bytes that are not UTF-8 become U+FFFD.
 */
export function toAnswer(chunks: readonly Uint8Array[], secrets: readonly string[], limit: number): string | null {
  if (chunks.length === 0) return null;
  const text = maskSecrets(Buffer.concat(chunks).toString("utf8"), secrets);
  return text === "" ? null : text.slice(0, limit);
}
