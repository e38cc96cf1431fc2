/** From a body's bytes to the JSON object in it. */
import { isUtf8 } from "node:buffer";
import { isJsonObject, type JsonObject } from "@posthaste/core/call/json-fragment";
import { parseJson } from "@posthaste/core/call/parse-json";
import { isPosthasteError } from "@posthaste/core/errors";
import { malformed, type Refusal, tooLarge } from "../answer/answer.ts";

export type ParsedBody = { readonly object: JsonObject } | { readonly refusal: Refusal };

const BYTE_ORDER_MARK = "\ufeff";

/** The content type is not asked: real clients say text/plain, form-urlencoded or JSON, and all of them send JSON. */
export function parseBody(bytes: Buffer): ParsedBody {
  if (bytes.length === 0) return refuse("empty_body", "The request has no body; send a JSON object.");
  if (!isUtf8(bytes)) return refuse("invalid_utf8", "The body is not UTF-8; encode it as UTF-8.");
  const text = bytes.toString();
  let value: unknown;
  try {
    value = parseJson(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  } catch (error) {
    if (isPosthasteError(error))
      return { refusal: tooLarge("request_too_large", `In the body ${error.message}; send smaller batches.`) };
    return refuse("malformed_json", `The body is not JSON: ${reasonOf(error)}.`);
  }
  return isJsonObject(value) ? { object: value } : refuse("not_an_object", "The body must be a JSON object.");
}

function refuse(code: string, message: string): ParsedBody {
  return { refusal: malformed(code, message) };
}

/** The parser's words without what it quotes of the body. */
function reasonOf(error: unknown): string {
  const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(String(error));
  return place === null ? "it ends too early" : `it cannot be read ${place[0]}`;
}
