/**
 * The cookie of a session. Its name has the port, since browsers keep a host's cookies for all of its ports together.
 */
import { SESSION_MS } from "@posthaste/core/access/access-record";

function cookieName(port: number): string {
  return `posthaste-session-${port}`;
}

/** The code in a `Cookie` header; undefined when there is none. */
export function readSessionCookie(header: string | undefined, port: number): string | undefined {
  const begin = `${cookieName(port)}=`;
  const found = header?.split(/; */).find((cookie) => cookie.startsWith(begin));
  return found?.slice(begin.length) || undefined;
}

/** The `Set-Cookie` of a session's code; null ends the session. `origin`: the console's, as the browser sees it. */
export function sessionCookie(code: string | null, { port, origin }: { port: number; origin: string }): string {
  const attributes = ["Path=/", "HttpOnly", "SameSite=Strict", `Max-Age=${code === null ? 0 : SESSION_MS / 1000}`];
  if (origin.startsWith("https:")) attributes.push("Secure");
  return [`${cookieName(port)}=${code ?? ""}`, ...attributes].join("; ");
}
