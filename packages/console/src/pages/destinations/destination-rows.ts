/** The rows of the destinations: their order, and those that fit a filter. */
import type { Destination, DestinationHealthPage } from "../../api/api-types.ts";
import type { SortDirection } from "../../listing/column.ts";
import type { Filter } from "../../listing/filter.ts";
import { type DestinationsFilterKey, SORTS, type SortKey } from "./destinations-filter.ts";

export type Health = DestinationHealthPage["data"][number];

export interface DestinationRow {
  readonly destination: Destination;
  /** Undefined where it could not be read. */
  readonly health: Health | undefined;
}

export interface Order {
  readonly key: SortKey;
  readonly direction: SortDirection;
}

/** The worst state is the highest. */
const SEVERITY: Readonly<Record<Health["state"], number>> = { healthy: 0, off: 1, failing: 2, open: 3 };

/** The order that an address asks for; without one, the worst state first. */
export function orderFrom(sort: string | undefined): Order {
  const key = (sort?.replace(/^-/, "") ?? "state") as SortKey;
  const first = SORTS[key];
  if (sort?.startsWith("-") !== true) return { key, direction: first };
  return { key, direction: first === "ascending" ? "descending" : "ascending" };
}

/** The other way; undefined for the order without one. */
export function sortOf({ key, direction }: Order): string | undefined {
  if (direction !== SORTS[key]) return `-${key}`;
  return key === "state" ? undefined : key;
}

/** Rows that are equal by the key stand by their names; an unknown figure stands last. */
export function sorted(rows: readonly DestinationRow[], { key, direction }: Order): readonly DestinationRow[] {
  const sign = direction === "ascending" ? 1 : -1;
  return rows.toSorted((a, b) => sign * compare(placeOf(a, key), placeOf(b, key)) || byName(a, b));
}

export function fitting(
  rows: readonly DestinationRow[],
  { state, name }: Filter<DestinationsFilterKey>,
): readonly DestinationRow[] {
  const part = name?.toLowerCase();
  return rows.filter(
    (row) =>
      (state === undefined || stateOf(row) === state) &&
      (part === undefined || row.destination.name.toLowerCase().includes(part)),
  );
}

/** The rows in each state. */
export function stateCounts(rows: readonly DestinationRow[]): ReadonlyMap<string, number> {
  const counts = new Map(Object.keys(SEVERITY).map((state) => [state, 0]));
  for (const row of rows) counts.set(stateOf(row), (counts.get(stateOf(row)) ?? 0) + 1);
  return counts;
}

function stateOf({ destination, health }: DestinationRow): Health["state"] {
  return health?.state ?? (destination.enabled ? "healthy" : "off");
}

function placeOf(row: DestinationRow, key: SortKey): number | string {
  const { destination, health } = row;
  switch (key) {
    case "name":
      return destination.name;
    case "state":
      return destination.missingKeyIds === null ? SEVERITY[stateOf(row)] : Number.POSITIVE_INFINITY;
    case "failing":
      return health?.successOfHour == null ? -1 : 1 - health.successOfHour;
    case "p99":
      return health?.p99Ms ?? -1;
    case "waiting":
      return health?.waiting?.total ?? -1;
    case "dead":
      return health?.deadLetters ?? -1;
  }
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === "string" || typeof b === "string") return String(a).localeCompare(String(b));
  return a === b ? 0 : a - b;
}

function byName(a: DestinationRow, b: DestinationRow): number {
  return a.destination.name.localeCompare(b.destination.name);
}
