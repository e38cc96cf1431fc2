import { describe, expect, it } from "vitest";
import { ConnectionBudget } from "./connection-budget.ts";
import { type AdmissionRequest, Permit, type UrlLine } from "./permit.ts";
import { DEFAULT_URL_HEALTH, UrlHealth } from "./url-health.ts";
import { WaitingQueue } from "./waiting-queue.ts";

const request: AdmissionRequest = { owed: null, isRetry: true };

function lineOf(url: string): UrlLine<AdmissionRequest> {
  return { health: new UrlHealth(url, DEFAULT_URL_HEALTH, new ConnectionBudget(64)), queue: new WaitingQueue() };
}

/** One whose breaker opened at 0. */
function brokenLine(url: string): UrlLine<AdmissionRequest> {
  const line = lineOf(url);
  for (let failures = 0; failures < 20; failures++) {
    line.health.take(0);
    line.health.settled("failed", { startedMs: 0, wasProbe: false }, 0);
    line.health.ended("failed", false, 0);
  }
  return line;
}

function shutLine(url: string, untilMs: number): UrlLine<AdmissionRequest> {
  const line = lineOf(url);
  line.health.shutUntil(untilMs);
  return line;
}

describe("a permit that is given", () => {
  it("counts a request at each of its URLs, and knows which of them are probes", () => {
    const lines = [lineOf("a"), brokenLine("b"), lineOf("c"), brokenLine("d")];
    const permit = new Permit(request, []);
    expect([permit.isGiven, permit.isRetry]).toEqual([false, true]);
    permit.give(lines, 1000);
    expect([permit.isGiven, permit.startedMs, permit.lines]).toEqual([true, 1000, lines]);
    expect(lines.map(({ health }) => health.unsettled)).toEqual([1, 1, 1, 1]);
    expect(lines.map((_, index) => permit.wasProbe(index))).toEqual([false, true, false, true]);
  });

  it("I3: asks no breaker when it is the last one that a delivery is owed", () => {
    const line = brokenLine("b");
    const permit = new Permit(request, [line], true);
    permit.give([line], 1000);
    expect([line.health.unsettled, permit.wasProbe(0), line.health.breaker.state]).toEqual([1, false, "open"]);
  });
});

describe("what a permit leaves out", () => {
  it("is deferred together where it is for the same cause till the same moment, and apart otherwise", () => {
    const [a, b] = [lineOf("a"), lineOf("b")];
    const [soon, sameTime, later] = [shutLine("soon", 5000), shutLine("same", 5000), shutLine("later", 9000)];
    const last = lineOf("last");
    const permit = new Permit(request, [a, soon, b, later, sameTime, last]);
    permit.leaveOut(a, "breaker_open");
    permit.leaveOut(soon, "retry_after");
    permit.leaveOut(b, "concurrency_limit");
    permit.leaveOut(later, "retry_after");
    permit.leaveOut(sameTime, "retry_after");
    expect(permit.lines).toEqual([last]);
    expect(permit.deferred).toEqual([
      { urls: ["a"], cause: "breaker_open", notBeforeMs: null },
      { urls: ["soon", "same"], cause: "retry_after", notBeforeMs: 5000 },
      { urls: ["b"], cause: "concurrency_limit", notBeforeMs: null },
      { urls: ["later"], cause: "retry_after", notBeforeMs: 9000 },
    ]);
  });

  it("is all that is left when it is refused, beside what was left out before", () => {
    const lines = [lineOf("a"), lineOf("b"), lineOf("c")] as const;
    const permit = new Permit(request, lines);
    permit.leaveOut(lines[1], "breaker_open");
    permit.refuse("concurrency_limit");
    expect([permit.lines, permit.isGiven]).toEqual([[], false]);
    expect(permit.deferred).toEqual([
      { urls: ["b"], cause: "breaker_open", notBeforeMs: null },
      { urls: ["a", "c"], cause: "concurrency_limit", notBeforeMs: null },
    ]);
  });

  it("waits for the first of its URLs to be open again when all are refused at once", () => {
    const permit = new Permit(request, [shutLine("later", 9000), shutLine("soon", 5000)]);
    permit.refuse("retry_after");
    expect(permit.lines).toEqual([]);
    expect(permit.deferred).toEqual([{ urls: ["later", "soon"], cause: "retry_after", notBeforeMs: 5000 }]);
  });
});
