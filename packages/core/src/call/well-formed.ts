/** UTF-8 cannot write half of a surrogate pair; it becomes U+FFFD, before a key or an id is made of it. */
export function toWellFormed(value: string): string {
  return value.toWellFormed();
}
