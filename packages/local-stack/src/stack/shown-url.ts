/**
 * Returns a URL as the terminal may show it, with `***` for a user name and password. In a text that is no URL,
 * everything before the last `@` may be a password.
 */
export function shownUrl(text: string): string {
  const at = text.lastIndexOf("@");
  if (at < 0 || hasNoUser(text)) return text;
  return `${/^[a-z]+:\/\//i.exec(text)?.[0] ?? ""}***${text.slice(at)}`;
}

function hasNoUser(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, hostname } = new URL(text);
  return username === "" && password === "" && hostname !== "";
}
