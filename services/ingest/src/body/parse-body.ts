/** From a body's bytes to the JSON object in it. */
import { isUtf8 } from "node:buffer";
import { isJsonObject, type JsonObject } from "@posthaste/core/call/json-fragment";
import { parseJson, type StandInBudget } from "@posthaste/core/call/parse-json";
import { isPosthasteError } from "@posthaste/core/errors";
import { malformed, type Refusal, tooLarge } from "../answer/answer.ts";

export type ParsedBody = { readonly object: JsonObject } | { readonly refusal: Refusal };

const BYTE_ORDER_MARK = "\ufeff";

/**
 * Parses a body. Its content type is not looked at: real clients say text/plain, form-urlencoded or JSON, and send
 * JSON.
 */
export function parseBody(bytes: Buffer): ParsedBody {
  return unreadable(bytes) ?? parseObject(bytes.toString());
}

/** Why bytes are refused before they are parsed; null when they are text. */
export function unreadable(bytes: Buffer): { readonly refusal: Refusal } | null {
  if (bytes.length === 0) return refuse("empty_body", "The request has no body; send a JSON object.");
  return isUtf8(bytes) ? null : refuse("invalid_utf8", "The body is not UTF-8; encode it as UTF-8.");
}

/** Parses the object that a body's text is. `placeOf` is as for `parseText`. */
export function parseObject(text: string, placeOf?: (place: number) => number): ParsedBody {
  const parsed = parseText(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text, placeOf);
  if ("refusal" in parsed) return parsed;
  const { value } = parsed;
  return isJsonObject(value) ? { object: value } : refuse("not_an_object", "The body must be a JSON object.");
}

/**
 * Parses a part of a body. `placeOf` says where in the body a place of the text is; without it the places are equal.
 * `budget`: the stand-ins that all parts of the body share, where it has several parts.
 */
export function parseText(
  text: string,
  placeOf?: (place: number) => number,
  budget?: StandInBudget,
): { readonly value: unknown } | { readonly refusal: Refusal } {
  try {
    return { value: parseJson(text, budget) };
  } catch (error) {
    if (isPosthasteError(error))
      return { refusal: tooLarge("request_too_large", `In the body ${error.message}; send smaller batches.`) };
    return refuse("malformed_json", `The body is not JSON: ${reasonOf(error, placeOf)}.`);
  }
}

function refuse(code: string, message: string): { readonly refusal: Refusal } {
  return { refusal: malformed(code, message) };
}

/** The parser's reason without its quotations from the body. */
function reasonOf(error: unknown, placeOf?: (place: number) => number): string {
  const found = /at position (\d+)(?: \(line \d+ column \d+\))?/.exec(String(error));
  if (found === null) return /end of JSON/.test(String(error)) ? "it ends too early" : "it cannot be read";
  return `it cannot be read ${placeOf === undefined ? found[0] : `at position ${placeOf(Number(found[1]))}`}`;
}
