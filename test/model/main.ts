/**
 * Runs of the model by hand: `npm run test:model -- --runs=1000000 [--seed=N] [--path=P] [--without=DW6,CW2]`. The seed
 * and the path that are printed run a failure again; `--without` leaves rules of the witnesses and of
 * outcome-check.ts out of account (DW6 of delivery-witness.ts, CW2 of commit-witness.ts).
 */
import { parseArgs } from "node:util";
import { checkRuns } from "./check-runs.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string" },
    path: { type: "string" },
    without: { type: "string", default: "" },
  },
});
const startedAtMs = performance.now();
const failure = await checkRuns({
  runs: Number(values.runs),
  seed: values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed),
  path: values.path,
  without: new Set(values.without.split(",")),
  onProgress: (line) => console.log(`${Math.round((performance.now() - startedAtMs) / 1000)} s: ${line}`),
});
if (failure !== null) {
  console.log(failure);
  process.exitCode = 1;
}
