/**
 * The cookie of a session. Its name has the port, since browsers keep a host's cookies for all of its ports together.
 * Over https it has the prefix `__Host-`: a browser takes such a cookie from this host alone, so no neighbour under the
 * same domain can plant one (RFC 6265bis, 4.1.3.2).
 */
import { SESSION_MS } from "@posthaste/core/access/access-record";

/** `origin`: the console's, as the browser sees it. */
interface CookieOf {
  readonly port: number;
  readonly origin: string;
}

function cookieName({ port, origin }: CookieOf): string {
  return `${origin.startsWith("https:") ? "__Host-" : ""}posthaste-session-${port}`;
}

/** The code in a `Cookie` header; undefined when there is none, and where two of the name leave open whose it is. */
export function readSessionCookie(header: string | undefined, of: CookieOf): string | undefined {
  const begin = `${cookieName(of)}=`;
  const [found, ...others] = header?.split(/; */).filter((cookie) => cookie.startsWith(begin)) ?? [];
  return others.length > 0 ? undefined : found?.slice(begin.length) || undefined;
}

/** The `Set-Cookie` of a session's code; null ends the session. */
export function sessionCookie(code: string | null, of: CookieOf): string {
  const attributes = ["Path=/", "HttpOnly", "SameSite=Strict", `Max-Age=${code === null ? 0 : SESSION_MS / 1000}`];
  if (of.origin.startsWith("https:")) attributes.push("Secure");
  return [`${cookieName(of)}=${code ?? ""}`, ...attributes].join("; ");
}
