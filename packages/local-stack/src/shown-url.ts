/**
 * A URL as the terminal may show it, `***` in place of a user name and password. Of a text that is no URL everything
 * before its last `@` may be a password.
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
