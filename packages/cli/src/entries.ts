/** An object of an API answer. */

/** An object of an answer. */
export type Entry = Readonly<Record<string, unknown>>;

export function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null;
}

/** The objects of a list; none where it is no list. */
export function entriesOf(value: unknown): readonly Entry[] {
  return Array.isArray(value) ? value.filter(isEntry) : [];
}
