/** The API's path of everything known under a message id. */

/** `rest`: the path after the id. A path holds no `.` and no `..`: these are asked for beside it. */
export function eventPath(messageId: string, rest = "", query: Readonly<Record<string, string>> = {}): string {
  const isPathless = messageId === "." || messageId === "..";
  const asked = new URLSearchParams(isPathless ? { ...query, messageId } : query).toString();
  const path = `/v1/events/${isPathless ? "-" : encodeURIComponent(messageId)}${rest}`;
  return asked === "" ? path : `${path}?${asked}`;
}
