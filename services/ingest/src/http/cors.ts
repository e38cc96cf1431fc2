/**
 * What browsers need to be told. Any page may send: the write key is the only credential, and it stands in the page
 * anyway. Answers carry these headers too, not only preflights; without them a client takes what arrived for lost and
 * resends it.
 */
import type { IncomingHttpHeaders } from "node:http";

/** How long a browser may remember a preflight, in seconds; browsers cap it themselves. */
const MAX_AGE_S = 86_400;

/** `Retry-After` is only seen by a page's script when it is exposed. */
const EXPOSED = "Retry-After, X-RateLimit-Reset";

const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;

/** Headers of an answer to a request from a page; none where there is no Origin. */
export function corsHeaders(origin: string | undefined): Record<string, string> {
  if (origin === undefined) return {};
  return {
    "access-control-allow-origin": origin,
    // The origin is echoed rather than `*`, and allowed credentials, since sendBeacon always sends them.
    "access-control-allow-credentials": "true",
    "access-control-expose-headers": EXPOSED,
    vary: "Origin",
  };
}

/** Headers of the answer to a preflight. */
export function preflightHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const asked = headers["access-control-request-headers"];
  return {
    ...corsHeaders(headers.origin),
    "access-control-allow-methods": "GET, POST, OPTIONS",
    "access-control-allow-headers":
      asked !== undefined && HEADER_NAMES.test(asked) ? asked : "Authorization, Content-Type",
    "access-control-max-age": String(MAX_AGE_S),
  };
}
