import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { costBy } from "./bounds.ts";
import { type Form, forms, PLAIN } from "./form.ts";
import { KNOWN_FORMS } from "./known-forms.ts";
import { type FormCost, type Meter, startMeter } from "./meter.ts";
import { complaint } from "./report.ts";
import { leastOf, searchDearest } from "./search.ts";

/** Here it is a whole test run that keeps the machine busy. */
const TOLERANCE = 2;
const ROUNDS = 3;
/** A form that seems too dear is measured so often, unless it is so much too dear that no busy machine explains it. */
const TRIES = 5;
const HOPELESS = 30;

let meter: Meter;
beforeAll(async () => {
  meter = await startMeter();
});
afterAll(() => meter.close());

/** What is wrong with what a form costs, after it was given some chances; empty when nothing is. */
async function complaintOf(form: Form): Promise<string> {
  let cost = await meter.measure(form, 1);
  if (complaint({ form, cost }, HOPELESS) !== "") return complaint({ form, cost }, HOPELESS);
  for (let time = 1; time < TRIES && complaint({ form, cost }, TOLERANCE) !== ""; time++) {
    cost = leastOf(cost, await meter.measure(form, 2 * ROUNDS));
  }
  return complaint({ form, cost }, TOLERANCE);
}

describe("what a request costs in the gateway's process, by what is sent", () => {
  it.each(Object.entries(KNOWN_FORMS))("is within its bounds: %s", async (_name, form) => {
    expect(await complaintOf(form)).toBe("");
  });

  it("is within its bounds in 80 forms of a fixed seed", async () => {
    for (const form of fc.sample(forms, { seed: 20_261_122, numRuns: 80 })) {
      expect(await complaintOf(form), JSON.stringify(form)).toBe("");
    }
  });
});

describe("the search for dear requests", () => {
  const cost = (cpuMs: number): FormCost => ({ cpuMs, peakMb: 0, wireKb: 1, status: 200 });
  /** As if calls cost by what stands in their context, and ten times as much of it were quotes. */
  const measure = ({ fillings, path }: Form) => {
    const inContext = fillings.filter(({ place }) => place === "context");
    const costs = inContext.map(({ filler, bytes }) => (filler === "quotes" ? 10 : 1) * bytes);
    return Promise.resolve(cost(path === "/v1/batch" ? Math.max(0, ...costs) : 0));
  };

  it("finds what is dear by what its last finds cost", async () => {
    const tries = 10_000;
    const found = await searchDearest({ seed: 7, known: [], measure, goesOn: (tried) => tried < tries });
    const drawn = fc.sample(fc.noBias(forms), { seed: 7, numRuns: tries });
    const costs = await Promise.all(drawn.map(measure));
    const dearestDrawn = Math.max(...costs.map(({ cpuMs }) => cpuMs));
    expect(found.of("batches", "ms")?.cost.cpuMs).toBeGreaterThan(2 * dearestDrawn);
  });

  it("tries the same forms from the same seed", async () => {
    const triedFrom = async (seed: number) => {
      const tried: Form[] = [];
      await searchDearest({
        seed,
        known: [PLAIN],
        measure,
        goesOn: (count) => count < 200,
        onTried: ({ form }) => tried.push(form),
      });
      return tried;
    };
    expect(await triedFrom(3)).toEqual(await triedFrom(3));
    expect(await triedFrom(3)).not.toEqual(await triedFrom(4));
  });

  it("complains of each bound that is passed", () => {
    const form: Form = { ...PLAIN, key: "unknown" };
    expect(complaint({ form, cost: cost(1) }, 1)).toBe("");
    expect(complaint({ form, cost: { ...cost(1_000), peakMb: 1_000 } }, 1)).toMatch(/ms a KB.*; .*MB a KB.*; .*ms, /);
    expect(costBy("ms a KB", { ...cost(1), wireKb: 0.1 })).toBe(2);
  });
});
