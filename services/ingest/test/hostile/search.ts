/**
 * A search for the dearest requests, guided by the costs of the last ones: most forms are from the pool with some of
 * their choices made anew, the others are drawn afresh.
 */
import { type Choose, createChoose } from "@posthaste/testkit/random";
import fc from "fast-check";
import { createDearest, type Dearest, type Found } from "./dearest.ts";
import { type Form, forms, GENES } from "./form.ts";
import type { FormCost } from "./meter.ts";

export interface SearchOptions {
  readonly seed: number;
  /** Tried before any other. */
  readonly known: readonly Form[];
  readonly measure: (form: Form, rounds: number) => Promise<FormCost>;
  /** Asked before each form: whether another one is tried. */
  readonly goesOn: (tried: number) => boolean;
  readonly onTried?: (found: Found, tried: number, dearest: Dearest) => void;
}

const POOL = 4;
/** Of ten forms so many are drawn afresh. */
const FRESH = 3;
const QUICK_ROUNDS = 2;
/** A form that seems dear is measured again, since a busy machine makes anything dear once. */
const CAREFUL_ROUNDS = 6;

export async function searchDearest({ seed, known, measure, goesOn, onTried }: SearchOptions): Promise<Dearest> {
  const dearest = createDearest(POOL);
  const random = createChoose(seed);
  for (let tried = 0; goesOn(tried); tried++) {
    const form = known[tried] ?? nextForm(dearest, random);
    let found: Found = { form, cost: await measure(form, QUICK_ROUNDS) };
    if (dearest.wouldKeep(found)) {
      found = { form, cost: leastOf(found.cost, await measure(form, CAREFUL_ROUNDS)) };
      dearest.keep(found);
    }
    onTried?.(found, tried + 1, dearest);
  }
  return dearest;
}

export function leastOf(left: FormCost, right: FormCost): FormCost {
  return { ...right, cpuMs: Math.min(left.cpuMs, right.cpuMs), peakMb: Math.min(left.peakMb, right.peakMb) };
}

function nextForm(dearest: Dearest, random: Choose): Form {
  const pool = dearest.all();
  const parent = pool[random(pool.length)]?.form;
  if (parent === undefined || random(10) < FRESH) return draw(forms, random);
  const other = pool[random(pool.length)]?.form ?? parent;
  let child = parent;
  for (let change = 0; change <= random(3); change++) child = changed(child, other, random);
  return child;
}

/**
 * One choice made anew, taken from another form, or one value larger, smaller, of another filler or in another place.
 */
function changed(form: Form, other: Form, random: Choose): Form {
  const genes = Object.keys(GENES) as (keyof Form)[];
  // The filling of a request has the most to choose from.
  const gene = random(2) === 0 ? "fillings" : (genes[random(genes.length)] ?? "calls");
  if (random(3) === 0) return { ...form, [gene]: other[gene] };
  const value = draw(GENES[gene] as fc.Arbitrary<unknown>, random);
  if (gene !== "fillings" || random(4) === 0) return { ...form, [gene]: value };
  const at = random(Math.max(1, form.fillings.length));
  const [fresh] = draw(GENES.fillings, random);
  const fillings = form.fillings.map((filling, index) => {
    if (index !== at) return filling;
    switch (random(4)) {
      case 0:
        return { ...filling, bytes: Math.min(510_000, filling.bytes * 2) };
      case 1:
        return { ...filling, bytes: Math.max(1, Math.round(filling.bytes / 2)) };
      case 2:
        return { ...filling, filler: fresh?.filler ?? filling.filler };
      default:
        return { ...filling, place: fresh?.place ?? filling.place };
    }
  });
  return { ...form, fillings };
}

function draw<T>(arbitrary: fc.Arbitrary<T>, random: Choose): T {
  const [value] = fc.sample(fc.noBias(arbitrary), { seed: random(2 ** 31 - 1), numRuns: 1 });
  // One run makes one value.
  return value as T;
}
