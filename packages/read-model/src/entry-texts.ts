/**
 * The texts that the detail of an entry with a given value holds. An entry that holds them may still not fit: the
 * filter decides.
 */
import type { DeadLetterFilter } from "@posthaste/core/replay/dead-letter-filter";

type Value = string | number | undefined;

/** The texts for dead letters. */
export function deadLetterTexts({ sourceId, type, event, userId, error }: DeadLetterFilter): readonly string[] {
  return [...fields({ sourceId, type, event }), ...quoted([userId, error])];
}

/** The texts for values of any field. */
export function quoted(values: readonly (string | undefined)[]): readonly string[] {
  return values.flatMap((value) => (value === undefined ? [] : [JSON.stringify(value)]));
}

/** The texts for values of the fields of these names. */
export function fields(values: Readonly<Record<string, Value>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${JSON.stringify(value)}`],
  );
}
