import fc from "fast-check";
import { Histogram, Registry } from "prom-client";
import { expect, it } from "vitest";
import { LatencyHistogram } from "./latency-histogram.ts";

const OPTIONS = { name: "latency_seconds", help: "Of something.", buckets: [0.005, 0.1, 1, 60] };

it("serves the page that prom-client's own histogram does", async () => {
  // Quarters, so that no order of adding them changes the sum; and the bounds themselves.
  const seconds = fc.oneof(
    fc.nat(400).map((each) => each / 4),
    fc.constantFrom(...OPTIONS.buckets, 0),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(seconds), async (all) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      const histogram = new LatencyHistogram({ ...OPTIONS, registry: ours });
      const reference = new Histogram({ ...OPTIONS, registers: [theirs] });
      for (const each of all) {
        histogram.record(each);
        reference.observe(each);
      }
      expect(await ours.metrics()).toBe(await theirs.metrics());
    }),
  );
});
