/** Keeps the start of a response body for the delivery log, with every known secret masked. */
import type { Destination } from "@posthaste/core/config/destination";
import type { KeptBody } from "./kept-body.ts";
import { maskSecrets } from "./mask.ts";

type Kept = Pick<KeptBody, "bytes" | "isCut">;

/** Shorter values, in characters, are no secrets, and masking them would make the answer unreadable. */
const SHORTEST_MASKED = 4;

/** An innocent text may hold the same characters where there are fewer than these. */
const SHORTEST_BASE64 = 6;

const knownForms = new WeakMap<Destination, readonly string[]>();

/**
 * Returns the secrets of a destination in every form in which a receiver may echo them, the longest first. They are
 * made once for each Destination object.
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

/** Adds the forms of a Basic credential: a receiver that reads it knows the pair, and the password by itself. */
function addBasic(forms: Set<string>, credentials: string): void {
  const pair = Buffer.from(credentials, "base64").toString("utf8");
  const password = pair.slice(pair.indexOf(":") + 1);
  for (const known of [pair, password]) if (known.length >= SHORTEST_MASKED) addForms(forms, known);
}

/** Adds a secret and its base64. The escapes of single characters are undone when a text is masked (mask.ts). */
function addForms(forms: Set<string>, secret: string): void {
  forms.add(secret);
  const bytes = Buffer.from(secret, "utf8");
  for (const alphabet of ["base64", "base64url"] as const) {
    const whole = bytes.toString(alphabet);
    forms.add(whole);
    // In a longer text the base64 may begin at any of three places. The characters that the secret shares with its
    // neighbours are left out.
    for (const before of [0, 1, 2]) {
      const text = Buffer.concat([Buffer.alloc(before), bytes]).toString(alphabet);
      const shared = before === 0 ? 0 : before + 1;
      const part = text.slice(shared, Math.floor(((before + bytes.length) * 8) / 6));
      if (part.length >= SHORTEST_BASE64) forms.add(part);
    }
  }
}

/**
 * Makes the text of an answer for the log: at most `limit` characters. Secrets are masked before the text is cut, so
 * that no part of a secret is left at its end. The same holds where the kept body itself was cut. Returns null for an
 * empty body. Bytes that are not UTF-8 become U+FFFD.
 */
export function toAnswer({ bytes, isCut }: Kept, secrets: readonly string[], limit: number): string | null {
  if (bytes === null) return null;
  const text = maskSecrets(bytes.toString("utf8"), secrets, isCut);
  return text === "" ? null : text.slice(0, limit);
}
