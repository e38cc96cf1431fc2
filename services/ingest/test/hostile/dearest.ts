/** The dearest forms that were found, some for each kind and each measure. */
import { costBy, MEASURES, type Measure } from "./bounds.ts";
import { type Form, KINDS, type Kind, kindOf } from "./form.ts";
import type { FormCost } from "./meter.ts";

export interface Found {
  readonly form: Form;
  readonly cost: FormCost;
}

export interface Dearest {
  /** Whether the form would be among the dearest at that cost. */
  wouldKeep(found: Found): boolean;
  /** Keeps it if it is; cheaper forms give way. */
  keep(found: Found): void;
  all(): readonly Found[];
  /** The dearest of a kind; undefined when none was found. */
  of(kind: Kind, measure: Measure): Found | undefined;
}

export function createDearest(size: number): Dearest {
  const shelves = new Map(KINDS.map((kind) => [kind, new Map(MEASURES.map((measure) => [measure, [] as Found[]]))]));
  const shelf = (kind: Kind, measure: Measure) => shelves.get(kind)?.get(measure) ?? [];
  const fits = ({ form, cost }: Found, measure: Measure) => {
    const kept = shelf(kindOf(form), measure);
    const last = kept[size - 1];
    return last === undefined || costBy(measure, cost) > costBy(measure, last.cost);
  };

  return {
    wouldKeep: (found) => MEASURES.some((measure) => fits(found, measure)),
    keep: (found) => {
      for (const measure of MEASURES) {
        const kept = shelf(kindOf(found.form), measure);
        const same = kept.findIndex(({ form }) => JSON.stringify(form) === JSON.stringify(found.form));
        if (same !== -1) kept.splice(same, 1);
        if (!fits(found, measure)) continue;
        kept.push(found);
        kept.sort((left, right) => costBy(measure, right.cost) - costBy(measure, left.cost));
        kept.splice(size);
      }
    },
    all: () => [...shelves.values()].flatMap((byMeasure) => [...byMeasure.values()].flat()),
    of: (kind, measure) => shelf(kind, measure)[0],
  };
}
