/** Calls in the address of an image, for mails and pages without scripts. */

import { isJsonObject, type JsonObject } from "@posthaste/core/json-fragment";
import { parseJson } from "@posthaste/core/parse-json";

/** A transparent GIF of one pixel. */
export const PIXEL_GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

/** The call in `?data=<base64 of JSON>`; null when there is none. A `+` that the query turned into a blank is put back. */
export function callFromData(data: unknown): JsonObject | null {
  if (typeof data !== "string") return null;
  try {
    const value: unknown = parseJson(Buffer.from(data.replaceAll(" ", "+"), "base64").toString());
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Deeper names than anyone writes into an address. */
const MAX_PATH = 10;

/** The call in `?event=E&properties.plan=P`: names with dots make objects, and every value is a string. */
export function callFromQuery(query: Readonly<Record<string, unknown>>): JsonObject {
  const call: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(query)) {
    const text: unknown = Array.isArray(value) ? value.at(-1) : value;
    if (typeof text === "string") setPath(call, name.split("."), text);
  }
  return call;
}

/** Defines own properties all the way, so that `__proto__.x` makes an ordinary object under an ordinary key. */
function setPath(object: Record<string, unknown>, path: readonly string[], value: string): void {
  const [name, ...rest] = path;
  if (name === undefined || path.length > MAX_PATH) return;
  if (rest.length === 0) {
    define(object, name, value);
    return;
  }
  const held = Object.hasOwn(object, name) ? Object.getOwnPropertyDescriptor(object, name)?.value : undefined;
  const inner: Record<string, unknown> = isJsonObject(held) ? { ...held } : {};
  setPath(inner, rest, value);
  define(object, name, inner);
}

function define(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}
