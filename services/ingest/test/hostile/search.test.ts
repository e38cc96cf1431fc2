import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costBy } from "./bounds.ts";
import { type Form, forms, PLAIN } from "./form.ts";
import type { FormCost } from "./meter.ts";
import { complaint } from "./report.ts";
import { searchDearest } from "./search.ts";

describe("the search for dear requests", () => {
  const cost = (cpuMs: number): FormCost => ({ cpuMs, peakMb: 0, wireKb: 1, status: 200 });
  /** As if calls cost by the content of their context, and ten times as much of it were quotes. */
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
