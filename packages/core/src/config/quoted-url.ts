/** URLs in messages. */
import { z } from "zod";

/**
 * A URL as a message may show it: `***` in place of a user name and password. Of a text that is no clean URL everything
 * before its last `@` may be a password, whatever stands in it, so nothing of that is shown but the scheme.
 */
export function quotedUrl(text: string): string {
  const at = text.lastIndexOf("@");
  if (at < 0 || isClean(text)) return text;
  const scheme = /^https?:[/\\]*/i.exec(text)?.[0] ?? "";
  return `${scheme}***${text.slice(at)}`;
}

/** True when a parser finds a host, and whatever an `@` stands in is behind it. */
function isClean(text: string): boolean {
  return /^https?:\/\/[^/?#@\\\s\p{Cc}]+([/?#]|$)/iu.test(text) && z.url().safeParse(text).success;
}
