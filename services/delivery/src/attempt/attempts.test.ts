import type { AttemptListener, AttemptReport, OutcomeDetails } from "@posthaste/webhook/report";
import { describe, expect, it, vi } from "vitest";
import { observed, observePipeline } from "../../test/observed-pipeline.ts";

observePipeline();

describe("an attempt", () => {
  it("is numbered from 1, those before it counted", () => {
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    observed.run(observed.retry(1, "deliveries/0/8/0", { attempts: 2 }));
    expect(observed.attemptNumbers).toEqual([1, 3]);
  });

  it("whose request has ended is out no more", () => {
    observed.run(observed.retry(4, "deliveries/0/7/0", {}));
    const out = () => observed.pipeline.activeDestinations.peek("dst")?.admission.urls.map((health) => health.out);
    observed.listener.onOutcome(0, "delivered", { status: 200, error: null, notBeforeMs: null });
    expect(out()).toEqual([1, 1]);
    observed.listener.onEnd(0);
    expect(out()).toEqual([0, 1]);
  });

  const NOTHING = undefined as unknown;
  it.each<[string, (listener: AttemptListener) => void]>([
    ["a request's outcome", (listener) => listener.onOutcome(0, "delivered", NOTHING as OutcomeDetails)],
    ["a request's end", (listener) => listener.onEnd(0)],
    ["its settlement", (listener) => listener.onSettled(NOTHING as AttemptReport)],
    ["its end", (listener) => listener.onFinished(NOTHING as AttemptReport)],
  ])("ends the process when somebody who is told of %s throws", (_, tell) => {
    vi.spyOn(observed.pipeline.admission, "ended").mockImplementation(() => {
      throw new TypeError("a bug");
    });
    observed.run(observed.retry(4, "deliveries/0/7/0", {}));
    tell(observed.listener);
    expect(observed.failures).toMatchObject([{ name: "TypeError" }]);
    observed.failures = [];
  });
});
