/** Calls in the address of an image, for mails and pages without scripts. */

import { isJsonObject, type JsonObject } from "@posthaste/core/call/json-fragment";
import { parseJson } from "@posthaste/core/call/parse-json";

/** A transparent GIF of one pixel. */
export const PIXEL_GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

/**
 * The bytes in `?data=<base64>`; none when it is missing. A `+`, which the query's parser reads as a blank, is put
 * back.
 */
export function bytesFromData(data: unknown): Buffer {
  return typeof data === "string" ? Buffer.from(data.replaceAll(" ", "+"), "base64") : Buffer.alloc(0);
}

/** The call whose JSON the bytes are; null when they are no JSON object. */
export function callFromBytes(bytes: Buffer): JsonObject | null {
  try {
    const value: unknown = parseJson(bytes.toString());
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The most parts of a name: more than anyone writes into an address. */
const MAX_PATH = 10;

/** The most parameters: more than anyone writes into an address. */
const MAX_PARAMETERS = 200;

/**
 * The call in `?event=E&properties.plan=P`: names with dots make objects, and every value is a string. Null when there
 * are too many.
 */
export function callFromQuery(query: Readonly<Record<string, unknown>>): JsonObject | null {
  const parameters = Object.entries(query);
  if (parameters.length > MAX_PARAMETERS) return null;
  const call: MutableObject = {};
  for (const [name, value] of parameters) {
    const text: unknown = Array.isArray(value) ? value.at(-1) : value;
    const path = name.split(".", MAX_PATH + 1);
    if (typeof text === "string" && path.length <= MAX_PATH) setPath(call, path, text);
  }
  return call;
}

type MutableObject = Record<string, unknown>;

/**
 * Sets a value in the objects that earlier names made, so that each name costs its own length. It defines own
 * properties all the way, so that `__proto__.x` makes an ordinary object under an ordinary key.
 */
function setPath(call: MutableObject, path: readonly string[], value: string): void {
  let object = call;
  for (const name of path.slice(0, -1)) {
    const held: unknown = Object.hasOwn(object, name)
      ? Object.getOwnPropertyDescriptor(object, name)?.value
      : undefined;
    // `setPath` made all objects below the call.
    const inner = isJsonObject(held) ? (held as MutableObject) : {};
    if (inner !== held) define(object, name, inner);
    object = inner;
  }
  define(object, path.at(-1) ?? "", value);
}

function define(object: MutableObject, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}
