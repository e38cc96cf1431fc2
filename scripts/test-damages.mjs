// npm run test:damages [-- WORD...]: breaks the product one rule at a time (test/damages) and runs the tests that are
// to notice. WORD picks the damages with it in their description or file. Prints each damage that no test noticed, and
// ends with 1 when there is one. A source is put back at the end of its damage.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DAMAGES } from "../test/damages/damages.mjs";
import { exitCode, install, root, spawnNode } from "./bootstrap.mjs";
import { startStack } from "./stack.mjs";

const words = process.argv.slice(2);
const damages = DAMAGES.filter(({ damage, file }) => words.every((word) => `${damage} ${file}`.includes(word)));
if (damages.length === 0) {
  console.error(`no damage is described by: ${words.join(" ")}`);
  process.exit(2);
}

install();
const folder = mkdtempSync(join(tmpdir(), "posthaste-damages-"));
let restore = () => {};
process.once("exit", () => {
  restore();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
const stack = damages.some(({ tests }) => tests.some(needsBroker)) ? await startStack() : undefined;
const survivors = [];
for (const [index, each] of damages.entries()) {
  const result = await make(each);
  console.log(`${String(index + 1).padStart(3)} of ${damages.length}  ${result.padEnd(9)}  ${each.damage}`);
  if (result !== "noticed") survivors.push({ ...each, result });
}
await stack?.stop();
for (const { damage, file, tests, result } of survivors)
  console.log(`${result}: ${damage} (${file}; ${tests.join(" ")})`);
console.log(`${damages.length - survivors.length} noticed, ${survivors.length} not`);
process.exitCode = survivors.length === 0 ? 0 : 1;

/** Unit tests stand beside their sources, and in the model's folder. */
function needsBroker(test) {
  return !/\/src\/|^test\/model|^packages\/runtime/.test(test);
}

/**
 * "noticed", "UNNOTICED", "GONE" where the source does not have the line exactly once, or "NO TEST RAN", as where the
 * damaged source does not load.
 */
async function make({ file, from, to, tests }) {
  const path = join(root, file);
  const source = readFileSync(path, "utf8");
  if (source.split(from).length !== 2) return "GONE";
  restore = () => writeFileSync(path, source);
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  const args = ["run", "--reporter=json", `--outputFile=${report}`, "--bail=1", ...tests];
  await exitCode(spawnNode(["node_modules/vitest/vitest.mjs", ...args], { env: stack?.env, stdio: "ignore" }));
  restore();
  restore = () => {};
  const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(report, "utf8"));
  if (numFailedTests > 0) return "noticed";
  return numPassedTests > 0 ? "UNNOTICED" : "NO TEST RAN";
}
