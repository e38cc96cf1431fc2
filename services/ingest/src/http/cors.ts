/**
 * The CORS headers. Any page may send: the write key is the only credential, and the page shows it anyway. Every answer
 * has these headers, and not only preflights: without them a client takes calls that arrived for lost, and sends them
 * again.
 */
import type { IncomingHttpHeaders } from "node:http";

/** How long a browser may remember a preflight, in seconds; browsers cap it themselves. */
const MAX_AGE_S = 86_400;

/** A page's script sees `Retry-After` only where it is exposed. */
const EXPOSED = "Retry-After, X-RateLimit-Reset";

const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;

/** The headers of an answer to a request from a page; none where there is no Origin. */
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

/** The headers of the answer to a preflight. */
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
