/** Many runs of the model, and of the first that fails the smallest one that fails the same way. */
import fc from "fast-check";
import { type RunReport, runScenario } from "./run-scenario.ts";
import { type Scenario, scenarios } from "./scenario.ts";
import { smallestScenario } from "./smallest-scenario.ts";

export interface RunsOptions {
  readonly runs: number;
  readonly seed: number;
  /** Of a run that failed, as it was printed: that run alone. */
  readonly path?: string | undefined;
  /** Rules that are left out of account. */
  readonly without?: ReadonlySet<string>;
  readonly onProgress?: (line: string) => void;
}

const SAID_EVERY = 1000;

/** Null when nothing failed, else the failure and how to run it again. */
export async function checkRuns({ runs, seed, path, without, onProgress }: RunsOptions): Promise<string | null> {
  const total = { runs: 0, acknowledged: 0, delivered: 0, dead: 0, attempts: 0 };
  const say = () => {
    const { acknowledged, delivered, dead, attempts } = total;
    onProgress?.(
      `${total.runs} runs of seed ${seed}: ${acknowledged} events acknowledged, ${delivered} deliveries taken, ${dead} dead letters, ${attempts} attempts`,
    );
  };
  onProgress?.(`${runs} runs of seed ${seed}`);
  const failures: { readonly scenario: Scenario; readonly report: RunReport }[] = [];
  const property = fc.asyncProperty(fc.noShrink(scenarios), async (scenario) => {
    const report = await runScenario(scenario, without);
    total.runs += 1;
    total.acknowledged += report.acknowledged;
    total.delivered += report.delivered;
    total.dead += report.dead;
    total.attempts += report.attempts;
    if (total.runs % SAID_EVERY === 0) say();
    if (report.violations.length > 0) failures.push({ scenario, report });
    return report.violations.length === 0;
  });
  const result = await fc.check(property, path === undefined ? { numRuns: runs, seed } : { numRuns: 1, seed, path });
  say();
  if (!result.failed) return null;
  const [first] = failures;
  if (first === undefined) throw result.errorInstance;
  const { scenario, report } = first;
  const rule = ruleOf(report);
  const smallest = await smallestScenario(scenario, async (each) => ruleOf(await runScenario(each, without)) === rule);
  const { violations } = await runScenario(smallest, without);
  return [
    `run ${result.numRuns} of seed ${seed} failed: --seed=${seed} --path=${result.counterexamplePath}`,
    ...report.violations,
    "the smallest that fails so:",
    JSON.stringify(smallest),
    ...violations,
  ].join("\n");
}

function ruleOf({ violations }: RunReport): string | undefined {
  return violations[0]?.split(" ", 3)[2];
}
