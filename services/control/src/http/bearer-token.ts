/** The admin token of the control API. */
import { createHash, timingSafeEqual } from "node:crypto";

/**
 * Tells whether an `Authorization` header holds the token, in a time that says nothing about how much of it was right.
 */
export function createTokenCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = digest(token);
  return (authorization) => {
    const given = /^Bearer +(.+)$/i.exec(authorization ?? "")?.[1];
    // Digests have one length, which timingSafeEqual asks for, whatever was given.
    return timingSafeEqual(digest(given ?? ""), expected) && given !== undefined;
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
