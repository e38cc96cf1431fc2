/** The write key that a request names outside of its body. */
import type { FastifyRequest } from "fastify";

/** The key in the header, or else in the address; null where only the body can name one. */
export function keyOutsideOfBody(request: FastifyRequest): string | null {
  return writeKeyFromHeader(request.headers.authorization) ?? writeKeyFromQuery(request);
}

/**
 * The user name of Basic authentication: what stands before the first colon, or all of it where an old client sends no
 * colon. Null when the header is absent or is of another scheme.
 */
function writeKeyFromHeader(authorization: string | undefined): string | null {
  if (authorization === undefined) return null;
  const match = /^basic +([\w+/=-]+)\s*$/i.exec(authorization);
  if (match?.[1] === undefined) return null;
  const credentials = Buffer.from(match[1], "base64").toString();
  const colon = credentials.indexOf(":");
  return colon === -1 ? credentials : credentials.slice(0, colon);
}

/** Beacons and pixels can set no header. */
function writeKeyFromQuery(request: FastifyRequest): string | null {
  const { writeKey } = request.query as Readonly<Record<string, unknown>>;
  return typeof writeKey === "string" && writeKey !== "" ? writeKey : null;
}
