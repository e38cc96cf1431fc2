import type { CheckResult, Finding } from "@posthaste/doctor/check";
import { Gauge, Registry } from "prom-client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { watchDoctor } from "./watch-doctor.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const found = (...states: readonly Finding["state"][]): CheckResult => ({
  name: "topics",
  state: "wrong",
  findings: states.map((state) => ({ state, what: "It is so.", remedy: "Mend it." })),
});

it("counts the faults and warnings of each check once a minute, first a minute from the start, until it ends", async () => {
  const registry = new Registry();
  const labelNames: ("check" | "severity")[] = ["check", "severity"];
  const findings = new Gauge({ name: "findings", help: "For this test.", labelNames, registers: [registry] });
  const rounds = [found("wrong", "warning", "unknown"), found("warning")];
  let looks = 0;
  const end = watchDoctor(async () => [rounds[looks++] ?? found()], findings);
  const counted = async () => (await registry.metrics()).match(/(?<=severity=)"\w+"} \d/g);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(looks).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(await counted()).toEqual(['"fault"} 1', '"warning"} 2']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await counted()).toEqual(['"fault"} 0', '"warning"} 1']);
  end();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(looks).toBe(2);
});
