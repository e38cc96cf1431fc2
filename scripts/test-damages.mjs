// npm run test:damages [-- WORD...]: breaks the product one rule at a time (test/damages) and runs the tests that are
// to notice. WORD picks the damages with it in their description or file. Prints each damage that no test noticed, and
// ends with 1 when there is one. A source is put back at the end of its damage.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DAMAGES } from "../test/damages/damages.mjs";
import { exitCode, install, root, spawnNode } from "./bootstrap.mjs";
import { startStack } from "./stack.mjs";

const MOST_MS = 600_000;

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
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
const stack = damages.some(({ tests }) => tests.some(needsBroker)) ? await startStack() : undefined;
const survivors = [];
for (const [index, each] of damages.entries()) {
  const result = await make(each);
  console.log(`${String(index + 1).padStart(3)} of ${damages.length}  ${result.padEnd(9)}  ${each.damage}`);
  if (result !== "noticed") survivors.push({ ...each, result });
}
if (stack !== undefined && !(await stack.stop())) {
  console.error("the broker or the registry ended by itself: what was noticed may be that");
  process.exitCode = 1;
}
for (const { damage, file, tests, result } of survivors)
  console.log(`${result}: ${damage} (${file}; ${tests.join(" ")})`);
console.log(`${damages.length - survivors.length} noticed, ${survivors.length} not`);
if (survivors.length > 0) process.exitCode = 1;

/** Unit tests stand beside their sources, and in some folders. */
function needsBroker(test) {
  return !/\/src\/|^test\/model|^packages\/(runtime|console)\/|^services\/ingest\/test\/acceptance/.test(test);
}

/**
 * "noticed", "UNNOTICED", "GONE" where the source does not have the line exactly once, or "NO TEST RAN", as where the
 * damaged source does not load. "NO REPORT" where the run was ended or broke down.
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
  // A damage may make a loop that no test's timeout ends.
  const limits = { timeout: MOST_MS, killSignal: "SIGKILL" };
  await exitCode(
    spawnNode(["node_modules/vitest/vitest.mjs", ...args], { env: stack?.env, stdio: "ignore", ...limits }),
  );
  restore();
  restore = () => {};
  if (!existsSync(report)) return "NO REPORT";
  const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(report, "utf8"));
  if (numFailedTests > 0) return "noticed";
  return numPassedTests > 0 ? "UNNOTICED" : "NO TEST RAN";
}
