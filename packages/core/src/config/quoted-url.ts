/** URLs in messages. */
import { z } from "zod";

/**
 * A URL as a message may show it: `***` in place of a user name and password. In a text that is no clean URL everything
 * before the last `@` may be a password, so only the scheme of that is shown.
 */
export function quotedUrl(text: string): string {
  const at = text.lastIndexOf("@");
  if (at < 0 || isClean(text)) return text;
  const scheme = /^https?:[/\\]*/i.exec(text)?.[0] ?? "";
  return `${scheme}***${text.slice(at)}`;
}

/** Whether a parser finds a host, so that every `@` stands behind the host. */
function isClean(text: string): boolean {
  return /^https?:\/\/[^/?#@\\\s\p{Cc}]+([/?#]|$)/iu.test(text) && z.url().safeParse(text).success;
}
