/** Texts that stand in the detail of an entry that holds a value; an entry that holds them is looked at. */
import type { LetterFilter } from "@posthaste/core/replay/letter-filter";

type Value = string | number | undefined;

/** Of dead letters. */
export function letterTexts({ sourceId, type, event, userId, error }: LetterFilter): readonly string[] {
  return [...fields({ sourceId, type, event }), ...quoted([userId, error])];
}

/** A value of whichever field. */
export function quoted(values: readonly (string | undefined)[]): readonly string[] {
  return values.flatMap((value) => (value === undefined ? [] : [JSON.stringify(value)]));
}

/** Values of fields of these names. */
export function fields(values: Readonly<Record<string, Value>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${JSON.stringify(value)}`],
  );
}
