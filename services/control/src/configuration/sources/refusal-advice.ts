/** The advice to the owner of a source, for each code with which ingest refuses a call. */

const TOO_LARGE =
  "Send batches of at most 512,000 bytes after decompression, with less context and fewer integrations.";
const SEND_JSON = "Send one JSON object, encoded as UTF-8.";
const SEND_AGAIN = "Send it again with the same messageId; the libraries do so by themselves.";

const ADVICE: Readonly<Record<string, string>> = {
  malformed_json: "The body is no JSON: look at how the sender writes it, and whether a proxy cuts it off.",
  invalid_utf8: SEND_JSON,
  empty_body: SEND_JSON,
  not_an_object: SEND_JSON,
  malformed_request: "The address or the head of the request cannot be read: compare it with docs/ingest.md.",
  body_cut_too_small: "Write the body at once, with its Content-Length, or in chunks of some hundred bytes.",
  invalid_compression: "The body is not what its Content-Encoding says: compress it once, or leave the header out.",
  unsupported_encoding: "Compress by gzip, deflate or br, or not at all.",
  missing_user: "Give each call a userId or an anonymousId that is not empty.",
  missing_event: "Give each track call an event that is not empty.",
  unknown_type: "Give each call of a batch a type: track, page, screen, identify, group or alias.",
  invalid_field: "A field is of another type than it should be; the call's own message says which.",
  invalid_timestamp: "Write timestamps as ISO 8601, such as 2026-11-22T16:00:00Z.",
  nested_too_deep: "Nest at most 100 objects and arrays in one another.",
  too_many_rejected_calls: "Nearly nothing in these batches is a call: look at what the sender puts into them.",
  missing_write_key:
    "Send the source's write key as the user name of Basic authentication, or as writeKey in the body.",
  unknown_write_key: "No source has this write key: take the key from the source's settings (posthaste sources get).",
  source_disabled: "The source is switched off: posthaste sources update <id> --enabled.",
  call_too_large: "Shorten the call to 32,768 bytes: less in its properties, traits or context.",
  request_too_large: TOO_LARGE,
  request_timeout: "The body came too slowly: look at the sender's connection, or send smaller batches.",
  rate_limited:
    "The source sends more than it may: send less, in larger batches, or raise POSTHASTE_SOURCE_CALLS_PER_SECOND.",
  unavailable: `Ingest could not take it then. ${SEND_AGAIN}`,
  not_acknowledged: `The brokers did not take it in 5 seconds; it may have arrived nevertheless. ${SEND_AGAIN}`,
};

/** Every code that there is advice for. */
export const ADVISED_CODES = Object.keys(ADVICE);

/** The advice, in one sentence or two. For a code that a later release added, it refers to docs/ingest.md. */
export function adviceFor(code: string): string {
  return ADVICE[code] ?? "docs/ingest.md says what this code means.";
}
