/** A series over time: the same numbers for the picture, its sentence and its table. */

export interface TimeSeries {
  readonly name: string;
  /** A colour of tokens.css. */
  readonly colour: "good" | "warn" | "bad" | "accent" | "off";
  /** One for each moment; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

export interface TimeChartData {
  /** For screen readers: "Attempts". */
  readonly title: string;
  readonly unit: string;
  /** ISO 8601, oldest first. */
  readonly times: readonly string[];
  readonly series: readonly TimeSeries[];
  /** The whole of the axis, which charts of a page share, in ms since the epoch. */
  readonly range: readonly [fromMs: number, untilMs: number];
}

/** `Attempts, 12 moments: delivered at most 120, last 118; …`. */
export function sentenceOf({ title, unit, times, series }: TimeChartData): string {
  if (times.length === 0) return `${title}: nothing in this time.`;
  const reported = series.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${name} not known`;
    return `${name} at most ${shownValue(Math.max(...known))}${unit}, last ${shownValue(known.at(-1) ?? 0)}${unit}`;
  });
  return `${title}, ${times.length} ${times.length === 1 ? "step" : "steps"}: ${reported.join("; ")}.`;
}

const NUMBER = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1 });

/** A value as the table has it. */
export function shownValue(value: number): string {
  return NUMBER.format(value);
}
