/** Filters that stand in the address: each is a text, or one of some. */

export interface FilterField<Key extends string> {
  readonly key: Key;
  readonly label: string;
  /** An id, chosen by the name of its destination or source. */
  readonly named?: "destination" | "source";
  /** A moment in ISO 8601. */
  readonly isMoment?: true;
  /** The possible values, with the words for each; any text where it is absent. */
  readonly choices?: readonly (readonly [value: string, words: string])[];
  /** Several values, divided by commas: the chip says their number. */
  readonly isList?: true;
  /** How it stands above the list: each of its choices as a chip, or a chip of its own; else behind "Add filter". */
  readonly chip?: "choices" | "own";
  /** The words of its chip while the list is not narrowed by it; its label where they are absent. */
  readonly chipWords?: string;
}

export type Filter<Key extends string> = Partial<Readonly<Record<Key, string>>>;

/** The filters among the parameters of an address; a choice that is none is left out. */
export function filterFrom<Key extends string>(
  search: Readonly<Record<string, unknown>>,
  fields: readonly FilterField<Key>[],
): Filter<Key> {
  const entries = fields.flatMap(({ key, choices }) => {
    const value = search[key];
    const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
    const fits = text !== "" && (choices === undefined || choices.some(([choice]) => choice === text));
    return fits ? [[key, text] as const] : [];
  });
  return Object.fromEntries(entries) as Filter<Key>;
}

/** The same with other values of some keys; an empty text takes a key away. */
export function withValues<Key extends string>(filter: Filter<Key>, values: Filter<string>): Filter<Key> {
  const entries = Object.entries({ ...filter, ...values }).map(([key, value]) => [key, value?.trim() ?? ""]);
  return Object.fromEntries(entries.filter(([, value]) => value !== "")) as Filter<Key>;
}

/** As the address has it, with its question mark; empty for no filter. */
export function searchOf(filter: Filter<string>): string {
  const text = new URLSearchParams(Object.entries(filter).map(([key, value]) => [key, value ?? ""])).toString();
  return text === "" ? "" : `?${text}`;
}
