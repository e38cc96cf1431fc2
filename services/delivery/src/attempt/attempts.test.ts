import type { AttemptReport } from "@posthaste/webhook/report";
import { describe, expect, it } from "vitest";
import { observed, observePipeline } from "../../test/observed-pipeline.ts";

observePipeline();

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
