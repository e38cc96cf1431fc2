/** Rules: V4 and V5 of check.ts. */
import { PosthasteError } from "@posthaste/core/errors";
import { describe, expect, it, vi } from "vitest";
import { observed, observePipeline } from "../../test/observed-pipeline.ts";

observePipeline();

describe("a record that no schema reads", () => {
  it("A1: is quarantined, and finished and counted when the brokers have it there, and not before", async () => {
    const task = observed.retry(4, "deliveries/0/7/0", {});
    const unreadable = new PosthasteError("invalid_input", "no value");
    observed.run({ ...task, item: { ...task.item, delivery: null, unreadable } });
    const [put] = observed.quarantined;
    expect([put?.offset, put?.error, observed.finished, observed.attempted]).toEqual([4, unreadable, [], []]);
    put?.acknowledge();
    await vi.advanceTimersByTimeAsync(0);
    expect(observed.finished).toEqual([4]);
    expect((await observed.metrics.unreadable.get()).values).toMatchObject([{ value: 1 }]);
  });

  it.each([
    [new PosthasteError("closed", "the producer is closed"), 0],
    [new Error("a bug"), 1],
  ])(
    "A1: stays in its window when it cannot be quarantined, %s, which ends the process %d times",
    async (reason, ends) => {
      const task = observed.retry(4, "deliveries/0/7/0", {});
      observed.run({ ...task, item: { ...task.item, delivery: null, unreadable: null } });
      observed.quarantined[0]?.refuse(reason);
      await vi.advanceTimersByTimeAsync(0);
      expect([observed.finished, observed.failures.length]).toEqual([[], ends]);
      observed.failures = [];
    },
  );
});

describe("a first attempt", () => {
  it("W6: a first attempt waits for no jitter", () => {
    observed.random = 0.9;
    const task = observed.retry(0, "", {});
    observed.run({ ...task, item: { ...task.item, isRetry: false, republishedFrom: undefined } });
    expect(observed.attempted).toHaveLength(1);
  });
});

describe("a retry", () => {
  it("W6: is dropped as a second copy of its republished record", () => {
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    observed.run(observed.retry(1, "deliveries/0/7/0", {}));
    expect(observed.attempted).toEqual([null]);
  });

  it("W6: is no second copy where nothing says what it was republished from", () => {
    for (const offset of [0, 1]) {
      const task = observed.retry(offset, "", {});
      observed.run({ ...task, item: { ...task.item, republishedFrom: undefined } });
    }
    expect([observed.attempted.length, observed.finished]).toEqual([2, []]);
  });

  it("W6: is no second copy when it serves other URLs: the attempt that was repeated failed elsewhere", () => {
    observed.run(observed.retry(0, "deliveries/0/7/0", { urls: ["https://a.example/"] }));
    observed.run(observed.retry(1, "deliveries/0/7/0", { urls: ["https://b.example/"] }));
    expect(observed.attempted).toEqual([["https://a.example/"], ["https://b.example/"]]);
  });

  it("W6: as a second copy is finished and counted", async () => {
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    observed.run(observed.retry(1, "deliveries/0/7/0", {}));
    expect(observed.finished).toEqual([1]);
    const counted = (await observed.metrics.repeats.get()).values.find(({ labels }) => labels.kind === "hand_off");
    expect(counted?.value).toBe(1);
  });

  it("W6: waits for its jitter, but not in a window that is full, where others would wait behind it", () => {
    observed.random = 0.9;
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    expect(observed.attempted).toHaveLength(0);
    observed.run(observed.retry(1, "deliveries/0/8/0", {}, 500));
    expect(observed.attempted).toHaveLength(1);
    vi.advanceTimersByTime(900);
    expect(observed.attempted).toHaveLength(2);
  });

  it("V5: its jitter does not outlast its window", () => {
    observed.random = 0.9;
    observed.run(
      observed.retry(0, "deliveries/0/7/0", { attempts: 1, windowStartMs: 0, deadlineMs: observed.nowMs + 5 }),
    );
    vi.advanceTimersByTime(4);
    expect([observed.attempted, observed.published]).toEqual([[null], []]);
  });

  it("V4: what waits for its jitter when the process or its partition ends is left to the next owner", () => {
    observed.random = 0.9;
    const given = { ...observed.retry(0, "deliveries/0/7/0", {}) };
    observed.run(given);
    Object.assign(given.window, { isRevoked: true });
    vi.advanceTimersByTime(1000);
    observed.run(observed.retry(1, "deliveries/0/8/0", {}));
    observed.pipeline.close();
    vi.advanceTimersByTime(1000);
    expect([observed.attempted, observed.published, observed.finished]).toEqual([[], [], []]);
  });

  it("A3: is not passed on once its partition was given up: it counts as one that has not returned", () => {
    observed.random = 0.9;
    observed.pipeline.retryBacklog.add("dst");
    const given = observed.retry(0, "deliveries/0/7/0", {});
    observed.run(given);
    Object.assign(given.window, { isRevoked: true });
    vi.advanceTimersByTime(1000);
    expect(observed.pipeline.retryBacklog.sizeOf("dst")).toBe(1);
    observed.run(observed.retry(1, "deliveries/0/8/0", {}));
    vi.advanceTimersByTime(1000);
    expect([observed.attempted, observed.pipeline.retryBacklog.sizeOf("dst")]).toEqual([[null], 0]);
  });

  it("that cannot even be checked, for a bug, ends the process", () => {
    const task = observed.retry(0, "deliveries/0/7/0", {});
    const broken = {
      ...task.item,
      get deferralOnArrival(): null {
        throw new Error("a bug");
      },
    };
    observed.run({ ...task, item: broken });
    vi.advanceTimersByTime(1000);
    expect(observed.failures).toMatchObject([{ message: "a bug" }]);
    observed.failures = [];
  });

  it("whose way from its jitter throws, for a bug, ends the process", () => {
    vi.spyOn(observed.pipeline.retryBacklog, "remove").mockImplementation(() => {
      throw new Error("a bug");
    });
    observed.run(observed.retry(0, "deliveries/0/7/0", {}));
    vi.advanceTimersByTime(1000);
    expect(observed.failures).toMatchObject([{ message: "a bug" }]);
    observed.failures = [];
  });
});
