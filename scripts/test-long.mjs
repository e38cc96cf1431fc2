// npm run test:long [-- NAME...]: the nightly ring, one line after another. NAME is a line below, such as hostile, or a
// file or folder with a long form (npm run test:long -- test/faults/engine). Prints the result of each line as a row of
// docs/testing.md.
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { exitCode, install, spawnNode } from "./bootstrap.mjs";
import { startStack } from "./stack.mjs";

const TEST = "scripts/test.mjs";
const MUTATED = ["packages/core", "packages/kafka", "services/router", "services/delivery"];

/** A program of PyPI that runs against a service over a broker; a name in the environment is a path. */
const SCHEMATHESIS = process.env.SCHEMATHESIS === undefined ? "st" : resolve(process.env.SCHEMATHESIS);

/** Each with its arguments of node, and its environment. */
const LINES = {
  files: { args: [TEST, "--long"] },
  console: { args: [TEST, "packages/console/"], env: { POSTHASTE_CONSOLE: "chromium", POSTHASTE_LONG: "true" } },
  "console-development": { args: [TEST, "packages/console/"], env: { POSTHASTE_CONSOLE: "development" } },
  damages: { args: ["scripts/test-damages.mjs"] },
  model: { args: ["test/model/main.ts", "--runs=10000"] },
  hostile: { args: ["services/ingest/test/hostile/main.ts", "--minutes=10"] },
  "hostile-wire": { args: ["test/hostile/main.ts", "--minutes=5"] },
  "api-ingest": { args: ["services/ingest/test/check-api.ts"], needs: SCHEMATHESIS },
  "api-control": { args: ["services/control/test/check-api.ts"], needs: SCHEMATHESIS },
  bench: { args: ["test/load/whole.ts", "--check"] },
  ...Object.fromEntries(
    MUTATED.map((folder) => [`mutation-${folder.split("/")[1]}`, { args: ["scripts/mutate.mjs", folder] }]),
  ),
};

const asked = process.argv.slice(2);
const files = asked.filter((name) => !Object.hasOwn(LINES, name));
const names = asked.length === 0 ? Object.keys(LINES) : asked.filter((name) => Object.hasOwn(LINES, name));
const lines = names.map((name) => ({ name, ...LINES[name] }));
if (files.length > 0) lines.push({ name: files.join(" "), args: [TEST, "--long", ...files] });

install();
const [PASSED, FAILED] = ["passed", "**failed**"];
const rows = [];
let failed = 0;
for (const line of lines) {
  const { name, args } = line;
  console.log(`\n== ${name}: node ${args.join(" ")}`);
  const startedAt = performance.now();
  const result = await run(line);
  // A line that was asked for, as each one is at night, is not passed by leaving it out.
  if (result === FAILED || (result !== PASSED && asked.length > 0)) failed += 1;
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  rows.push(`| ${name} | ${result} | ${minutes} min | ${new Date().toISOString().slice(0, 10)} |`);
}
for (const row of rows) console.log(row);
process.exitCode = failed === 0 ? 0 : 1;

/** How the line ended, in words. */
async function run({ args, env = {}, needs }) {
  if (needs === undefined) return (await exitCode(spawnNode(args, { env }))) === 0 ? PASSED : FAILED;
  if (spawnSync(needs, ["--version"]).status !== 0) return `skipped: no program ${needs} (pip install schemathesis)`;
  try {
    const stack = await startStack();
    const code = await exitCode(spawnNode(args, { env: { ...env, ...stack.env } }));
    return (await stack.stop()) && code === 0 ? PASSED : FAILED;
  } catch (error) {
    console.error(String(error));
    return FAILED;
  }
}
