/** The processor time and memory of a request by its content: a measurement, so it runs where nothing else does. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Form, forms } from "./form.ts";
import { KNOWN_FORMS } from "./known-forms.ts";
import { type Meter, startMeter } from "./meter.ts";
import { complaint } from "./report.ts";
import { leastOf } from "./search.ts";

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

/** The fault of a form's cost, after it was given some chances; empty for none. */
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
