// npm run test:long [-- NAME...]: the nightly ring, one line after another. NAME is a line below, such as hostile, or a
// file or folder with a long form (npm run test:long -- test/faults/engine). Prints the result of each line as a row of
// docs/testing.md.
import { spawnSync } from "node:child_process";
import { exitCode, install, spawnNode } from "./bootstrap.mjs";
import { startStack } from "./stack.mjs";

const TEST = "scripts/test.mjs";
const MUTATED = ["packages/core", "packages/kafka", "services/router", "services/delivery"];

/** A program of PyPI that runs against a service over a broker. */
const SCHEMATHESIS = process.env.SCHEMATHESIS ?? "st";

/** Each with its arguments of node, and its environment. */
const LINES = {
  files: { args: [TEST, "--long"] },
  console: { args: [TEST, "packages/console/"], env: { POSTHASTE_CONSOLE: "chromium", POSTHASTE_LONG: "true" } },
  damages: { args: ["scripts/test-damages.mjs"] },
  model: { args: ["test/model/main.ts", "--runs=10000"] },
  hostile: { args: ["services/ingest/test/hostile/main.ts", "--minutes=10"] },
  "api-ingest": { args: ["services/ingest/test/check-api.ts"], needs: SCHEMATHESIS },
  "api-control": { args: ["services/control/test/check-api.ts"], needs: SCHEMATHESIS },
  ...Object.fromEntries(
    MUTATED.map((folder) => [`mutation-${folder.split("/")[1]}`, { args: ["scripts/mutate.mjs", folder] }]),
  ),
};

const asked = process.argv.slice(2);
const files = asked.filter((name) => !(name in LINES));
const names = asked.length === 0 ? Object.keys(LINES) : asked.filter((name) => name in LINES);
const lines = names.map((name) => ({ name, ...LINES[name] }));
if (files.length > 0) lines.push({ name: files.join(" "), args: [TEST, "--long", ...files] });

install();
const rows = [];
let failed = 0;
for (const line of lines) {
  const { name, args } = line;
  console.log(`\n== ${name}: node ${args.join(" ")}`);
  const startedAt = performance.now();
  const result = await run(line);
  if (result === "**failed**") failed += 1;
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  rows.push(`| ${name} | ${result} | ${minutes} min | ${new Date().toISOString().slice(0, 10)} |`);
}
for (const row of rows) console.log(row);
process.exitCode = failed === 0 ? 0 : 1;

/** How the line ended, in words. */
async function run({ args, env = {}, needs }) {
  if (needs === undefined) return (await exitCode(spawnNode(args, { env }))) === 0 ? "passed" : "**failed**";
  if (spawnSync(needs, ["--version"]).status !== 0) return `skipped: no program ${needs} (pip install schemathesis)`;
  const stack = await startStack();
  const code = await exitCode(spawnNode(args, { env: { ...env, ...stack.env, SCHEMATHESIS: needs } }));
  return (await stack.stop()) && code === 0 ? "passed" : "**failed**";
}
