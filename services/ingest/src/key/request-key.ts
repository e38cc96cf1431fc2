/** The write key of a request outside of its body. */
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";

/**
 * The user name of Basic authentication: the text before the first colon, or all of it, since an old client sends no
 * colon. Null when the header is absent or has another scheme.
 */
export function writeKeyInHeader({ authorization }: IncomingHttpHeaders): string | null {
  if (authorization === undefined) return null;
  const match = /^basic +([\w+/=-]+)\s*$/i.exec(authorization);
  if (match?.[1] === undefined) return null;
  const credentials = Buffer.from(match[1], "base64").toString();
  const colon = credentials.indexOf(":");
  return colon === -1 ? credentials : credentials.slice(0, colon);
}

/** The key in the address: beacons and pixels can set no header. */
export function writeKeyInQuery(request: FastifyRequest): string | null {
  const { writeKey } = request.query as Readonly<Record<string, unknown>>;
  return typeof writeKey === "string" && writeKey !== "" ? writeKey : null;
}
