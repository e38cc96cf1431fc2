/** Places in the dead letters' topic in whatever order they come: a million that stand side by side are one run. */
import { PlaceSet } from "./place-set.ts";

export class LeftPlaces {
  /** By partition, of each run where it begins and where the next offset after it stands, one after the other. */
  readonly #runs = new Map<number, number[]>();

  /** What puts in the offsets of one partition; the lowest first costs least. */
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

/** Rows come so; a million runs are not sorted for nothing. */
function isAscending(bounds: readonly number[]): boolean {
  return bounds.every((bound, index) => index === 0 || (bounds[index - 1] ?? 0) <= bound);
}

function inOrder(bounds: readonly number[]): readonly number[] {
  const runs = bounds.flatMap((from, index) => (index % 2 === 0 ? [[from, bounds[index + 1] ?? from] as const] : []));
  return runs.sort(([one], [other]) => one - other).flat();
}
