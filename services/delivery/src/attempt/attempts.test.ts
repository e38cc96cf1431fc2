import { DELIVERED } from "@posthaste/core/delivery/outcome";
import type { AttemptListener, AttemptReport, OutcomeDetails } from "@posthaste/webhook/report";
import { describe, expect, it, vi } from "vitest";
import { DESTINATION, observed, observePipeline } from "../../test/observed-pipeline.ts";

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
    observed.listener.onEnd(0, { outcome: "delivered", isOverBudget: false, answerMs: 0 });
    expect(out()).toEqual([0, 1]);
  });

  it("that a good status settled is finished once, and logged with what its answer went over", () => {
    observed.run(observed.retry(4, "deliveries/0/7/0", { attempts: 1 }));
    const { listener } = observed;
    const [url] = DESTINATION.urls.map((each) => each.url);
    const answered = { url: url ?? "", status: 200, durationMs: 1, notBeforeMs: null, answer: null };
    const report = (error: "answer_over_budget" | null): AttemptReport => ({
      settlement: DELIVERED,
      startedAtMs: 1,
      urls: [{ ...answered, outcome: "delivered", error }],
    });
    listener.onOutcome(0, "delivered", { status: 200, error: null, notBeforeMs: null });
    listener.onSettled(report(null));
    expect([observed.finished, observed.published]).toEqual([[4], []]);
    listener.onEnd(0, { outcome: "delivered", isOverBudget: true, answerMs: 1 });
    listener.onFinished(report("answer_over_budget"));
    expect([observed.finished, observed.published]).toEqual([[4], []]);
    expect(observed.logged).toMatchObject([
      { outcome: "delivered", urls: [{ status: 200, error: "answer_over_budget" }] },
    ]);
  });

  const NOTHING = undefined as unknown;
  it.each<[string, (listener: AttemptListener) => void]>([
    ["a request's outcome", (listener) => listener.onOutcome(0, "delivered", NOTHING as OutcomeDetails)],
    ["a request's end", (listener) => listener.onEnd(0, { outcome: "delivered", isOverBudget: false, answerMs: 0 })],
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
