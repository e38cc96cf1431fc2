/** The cost that a request may have, the cost asked for, and a form's share of it. */
import { type Form, hasKnownKey } from "./form.ts";
import type { FormCost } from "./meter.ts";

export const MEASURES = ["ms a KB", "MB a KB", "ms"] as const;
/** CPU by bytes sent, memory by bytes sent, and CPU of one request. */
export type Measure = (typeof MEASURES)[number];

export type Bounds = Readonly<Record<Measure, number>>;

/** The aimed cost, with a known key and without one. */
export const AIMS: Bounds = { "ms a KB": 5, "MB a KB": 3, ms: 60 };
export const AIMS_WITHOUT_KEY: Bounds = { "ms a KB": 5, "MB a KB": 3, ms: 1 };

/** Half a megabyte of gzip is inflated to look for a key in it. */
const WITHOUT_KEY: Bounds = { ...AIMS_WITHOUT_KEY, ms: 2 };

export function boundsOf(form: Form): Bounds {
  return hasKnownKey(form) ? AIMS : WITHOUT_KEY;
}

export function aimsOf(form: Form): Bounds {
  return hasKnownKey(form) ? AIMS : AIMS_WITHOUT_KEY;
}

/**
 * The sent bytes count as half a kilobyte at the least, the size of an honest call: below that each request's own cost
 * is told.
 */
const LEAST_KB = 0.5;

export function costBy(measure: Measure, { cpuMs, peakMb, wireKb }: FormCost): number {
  const kb = Math.max(LEAST_KB, wireKb);
  if (measure === "ms") return cpuMs;
  return (measure === "ms a KB" ? cpuMs : peakMb) / kb;
}

/** The measures by which a form costs more than so many times its bound. */
export function passedBounds(form: Form, cost: FormCost, tolerance: number): readonly Measure[] {
  const bounds = boundsOf(form);
  return MEASURES.filter((measure) => costBy(measure, cost) > bounds[measure] * tolerance);
}
