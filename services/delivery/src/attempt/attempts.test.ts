import type { AttemptReport } from "@posthaste/webhook/report";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ObservedPipeline } from "../../test/observed-pipeline.ts";

let observed: ObservedPipeline;

beforeEach(() => {
  observed = new ObservedPipeline();
});

afterEach(() => {
  expect(observed.failures).toEqual([]);
  observed.end();
});

describe("an attempt", () => {
  it("is numbered from 1, those before it counted", () => {
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    observed.run(observed.retry(1, "deliveries/0/8/0", { attempts: 2 }));
    expect(observed.attemptNumbers).toEqual([1, 3]);
  });

  it("that throws where nobody catches ends the process", () => {
    observed.run(observed.retry(4, "deliveries/0/7/0", {}));
    observed.listener.onSettled(undefined as unknown as AttemptReport);
    expect(observed.failures).toMatchObject([{ name: "TypeError" }]);
    observed.failures = [];
  });
});
