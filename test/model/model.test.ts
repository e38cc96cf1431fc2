import { describe, expect, it } from "vitest";
import { isLong } from "../faults/form.ts";
import { checkRuns } from "./check-runs.ts";
import { runScenario } from "./run-scenario.ts";
import type { Scenario } from "./scenario.ts";

/** In the short form the same each time, and as many as the table of docs/testing.md needs. */
const RUNS = isLong ? 1000 : 50;
const SEED = Number(process.env["POSTHASTE_MODEL_SEED"] || (isLong ? Date.now() % 2 ** 31 : 7));

const CALM: Scenario = {
  seed: 1,
  partitions: 2,
  routers: 2,
  deliverers: 2,
  windowRecords: 12,
  dedupes: false,
  maxConnections: 4096,
  destinations: [
    {
      urls: 1,
      settle: "any",
      rateLimitPerSecond: null,
      isMadeLate: false,
      behaviours: [{ kind: "answer", status: 200, afterMs: 20 }],
    },
  ],
  actions: [0, 1, 2].map((user) => ({ atMs: 10_000, action: { kind: "events", user, count: 8, isRepeated: false } })),
};

describe("the model of the whole", () => {
  it(`loses nothing, repeats what it may and keeps the order of a key in ${RUNS} runs of seed ${SEED}`, {
    timeout: 600_000,
  }, async () => {
    expect(await checkRuns({ runs: RUNS, seed: SEED })).toBeNull();
  });

  it("delivers everything at the first attempt where nothing goes wrong", async () => {
    const { violations, acknowledged, delivered, dead, attempts } = await runScenario(CALM);
    expect({ violations, acknowledged, delivered, dead, attempts }).toEqual({
      violations: [],
      acknowledged: 24,
      delivered: 24,
      dead: 0,
      attempts: 24,
    });
  });

  it("notices deliveries that a broker acknowledged and did not write", async () => {
    const loses = [0, 1].map((process) => ({
      atMs: 9000,
      action: { kind: "sends" as const, process, faults: ["lost" as const] },
    }));
    const { violations } = await runScenario({ ...CALM, actions: [...CALM.actions, ...loses] });
    expect(violations.join("\n")).toContain("was acknowledged and never routed to dst-0");
  });

  it("is decided by its seed: a run that is run again comes to the same", async () => {
    const killed = { atMs: 10_020, action: { kind: "kill" as const, process: 2, forMs: 300 } };
    const scenario = { ...CALM, actions: [...CALM.actions, killed] };
    expect(await runScenario(scenario)).toEqual(await runScenario(scenario));
  });
});
