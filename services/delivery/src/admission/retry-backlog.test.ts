import { describe, expect, it } from "vitest";
import { checked, observeAdmission, observed } from "../../test/observed-admission.ts";

observeAdmission();

describe("the retry backlog", () => {
  it("I2: knows how many of a destination's deliveries went to retry topics and have not returned", () => {
    observed.retryBacklog.add("a");
    observed.retryBacklog.add("a");
    observed.retryBacklog.remove("a");
    observed.admit(checked("a", { isRetry: true }));
    expect([observed.retryBacklog.sizeOf("a"), observed.retryBacklog.sizeOf("b")]).toEqual([1, 0]);
  });
});
