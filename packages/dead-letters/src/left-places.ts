/** Places in the dead-letter topic, added in any order: a million that stand side by side are one run. */
import { PlaceSet } from "./place-set.ts";

export class LeftPlaces {
  /** For each partition the bounds of its runs, one after the other: where a run begins, and the offset behind it. */
  readonly #runs = new Map<number, number[]>();

  /** Returns a function that adds offsets of one partition; ascending offsets cost least. */
  of(partition: number): (offset: number) => void {
    const runs = this.#runs.get(partition) ?? [];
    this.#runs.set(partition, runs);
    return (offset) => {
      if (runs.length > 0 && runs[runs.length - 1] === offset) runs[runs.length - 1] = offset + 1;
      else runs.push(offset, offset + 1);
    };
  }

  places(): PlaceSet {
    const places = new PlaceSet();
    for (const [partition, runs] of [...this.#runs].sort(([one], [other]) => one - other)) {
      places.addRuns(partition, isAscending(runs) ? runs : inOrder(runs));
    }
    return places;
  }
}

/** Whether the bounds ascend, as the bounds of rows do: a million runs are then not sorted. */
function isAscending(bounds: readonly number[]): boolean {
  return bounds.every((bound, index) => index === 0 || (bounds[index - 1] ?? 0) <= bound);
}

function inOrder(bounds: readonly number[]): readonly number[] {
  const runs = bounds.flatMap((from, index) => (index % 2 === 0 ? [[from, bounds[index + 1] ?? from] as const] : []));
  return runs.sort(([one], [other]) => one - other).flat();
}
