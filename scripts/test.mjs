// npm test: every test of a change, against one real broker and registry. npm test -- PACKAGE...: the tests of packages
// or services, by the names of their folders (kafka, delivery), or below a path (packages/kafka/test). A broker starts
// only where one is needed. The last line is `N passed, N failed, N skipped`.
// npm run test:unit: the tests without a broker or a browser; with `-- --changed` those that a change can break.
// test-long.mjs adds --long: the long tests, one file at a time.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { isBuilt } from "../packages/console/build/sources.mjs";
import { environment, exitCode, install, root, spawnNode } from "./bootstrap.mjs";
import { startStack } from "./stack.mjs";

const GO_CLIENT = "packages/client-go/";
/** Files that take longer are printed at the end. */
const SLOW_MS = 10_000;

/** The projects of the unit ring (packages/tooling/test-files.ts). */
const UNIT_PROJECTS = ["unit", "unit-alone", "console"];
/** For processes beside the tests over a broker: these wait much, and go first where both have work. */
const LOWER_PRIORITY = 5;
/** Files of the long ring alone, and files with a long form. */
const LONG_FILES = [
  ".long.test.ts",
  "test/faults/",
  "test/e2e/",
  "test/model/",
  "packages/core/src/audience/membership",
  "packages/dead-letters/src/",
  "packages/kafka/src/consumer/partition-intake-owners",
  "services/control/test/any-request",
];

const ring = ["--unit", "--long"].find((flag) => process.argv[2] === flag);
const args = process.argv.slice(ring === undefined ? 2 : 3);
const options = args.filter((each) => each.startsWith("-"));
const filters = args.filter((each) => !each.startsWith("-")).map(folderOf);
if (ring === "--long" && filters.length === 0) filters.push(...LONG_FILES);
const isWhole = ring === undefined && filters.length === 0;

install();
const reports = mkdtempSync(join(tmpdir(), "posthaste-test-report-"));
const counts = { passed: 0, failed: 0, skipped: 0 };
const results = [];
let stack;
try {
  // Of some packages perhaps none needs a broker; those that do start one (packages/tooling/kafka-global-setup.ts).
  if (isWhole) await runWhole();
  else await runSome();
} catch (error) {
  counts.failed += 1;
  console.error(String(error));
} finally {
  // A broker that ended by itself during the run is a failure, whatever the tests say.
  if (stack !== undefined && !(await stack.stop())) counts.failed += 1;
  rmSync(reports, { recursive: true, force: true });
  const { POSTHASTE_TEST_REPORT: kept } = process.env;
  if (kept !== undefined) writeFileSync(kept, JSON.stringify({ testResults: results }));
}
if (counts.passed + counts.failed === 0) {
  console.error("no test ran");
  counts.failed += 1;
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;

/**
 * A package's or service's folder for its name, with the slash that keeps `packages/kafka/` from meaning another; else
 * as it is.
 */
function folderOf(name) {
  const folder = ["packages", "services"]
    .map((each) => `${each}/${name}/`)
    .find((each) => existsSync(join(root, each)));
  return folder ?? name;
}

/** Work that keeps cores busy runs beside work that waits for brokers. */
async function runWhole() {
  // Both parts need the built pages, and neither is to build them while the other one does.
  if (!isBuilt() && (await exitCode(spawnNode(["packages/console/build/main.ts"]))) !== 0) counts.failed += 1;
  stack = await startStack();
  const others = UNIT_PROJECTS.map((name) => `--project=!${name}`);
  await Promise.all([
    runVitest(others, stack.env),
    runVitest(unitProjects(), {}, { isBeside: true }).then(() => runGo()),
  ]);
  printSlowFiles(results);
  const ran = new Set(results.map(({ name }) => relative(root, name)));
  for (const file of testFiles()) {
    if (ran.has(file) || file.endsWith(".long.test.ts")) continue;
    console.error(`${file} was not run: no project includes it`);
    counts.failed += 1;
  }
}

async function runSome() {
  const ofVitest = filters.filter((filter) => filter !== GO_CLIENT);
  if (filters.length === 0 || ofVitest.length > 0) {
    // A long form measures its effect on the brokers, alone.
    const workers = ring === "--long" ? ["--maxWorkers=1"] : [];
    const units = ring === "--unit" ? [...unitProjects(), "--exclude=**/test/browser/**"] : [];
    await runVitest([...units, ...workers, ...ofVitest], ring === "--long" ? { POSTHASTE_LONG: "true" } : {});
    printSlowFiles(results);
  }
  if (filters.includes(GO_CLIENT)) await runGo();
}

function unitProjects() {
  return UNIT_PROJECTS.map((name) => `--project=${name}`);
}

/** `isBeside`: it prints its output at its end, all at once. */
async function runVitest(args, env, { isBeside = false } = {}) {
  const report = join(reports, `vitest-${isBeside ? "beside" : "first"}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const child = spawnNode(["node_modules/vitest/vitest.mjs", "run", ...reporters, ...options, ...args], {
    env,
    stdio: isBeside ? ["ignore", "pipe", "pipe"] : "inherit",
  });
  if (isBeside && child.pid !== undefined) setPriority(child.pid, LOWER_PRIORITY);
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => said.push(chunk));
  const code = await exitCode(child);
  process.stdout.write(Buffer.concat(said));
  if (!existsSync(report)) {
    console.error(`vitest ended with ${code} and no report`);
    counts.failed += 1;
    return;
  }
  const result = JSON.parse(readFileSync(report, "utf8"));
  results.push(...result.testResults);
  counts.passed += result.numPassedTests;
  counts.failed += result.numFailedTests;
  counts.skipped += result.numPendingTests + result.numTodoTests;
  // A file that does not load and an error between tests count no test as failed.
  if (code !== 0 && result.numFailedTests === 0) counts.failed += 1;
}

/** The files that a run waits for. */
function printSlowFiles(files) {
  const slow = files
    .map(({ name, startTime, endTime }) => ({ file: relative(root, name), ms: endTime - startTime }))
    .filter(({ ms }) => ms >= SLOW_MS)
    .sort((a, b) => b.ms - a.ms);
  for (const { file, ms } of slow) console.log(`${(ms / 1000).toFixed(0).padStart(4)} s  ${file}`);
}

/** Every test file in the tree, so that none is left out silently. */
function testFiles() {
  return ["packages", "services", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((path) => join(folder, path))
      .filter((path) => path.endsWith(".test.ts") && !/(^|\/)(dist|node_modules)\//.test(path)),
  );
}

async function runGo() {
  if (spawnSync("go", ["version"]).status !== 0) {
    console.log("go was not found: the tests of packages/client-go are skipped");
    counts.skipped += 1;
    return;
  }
  // The race detector needs a C compiler.
  const hasCompiler = spawnSync("cc", ["--version"]).status === 0;
  const race = hasCompiler ? ["-race"] : [];
  console.log(`\ngo test ${race.join("")} ./... (packages/client-go)`);
  const child = spawn("go", ["test", "-json", "-count=1", ...race, "./..."], {
    cwd: join(root, "packages/client-go"),
    env: environment({ CGO_ENABLED: hasCompiler ? "1" : "0" }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = exitCode(child);
  let failed = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const event = parseGoEvent(line);
    if (event.Action === "output" && /^\s*(--- FAIL|.*_test\.go:\d+:|FAIL|panic)/.test(event.Output))
      process.stdout.write(event.Output);
    if (event.Test === undefined) continue;
    if (event.Action === "pass") counts.passed += 1;
    if (event.Action === "skip") counts.skipped += 1;
    if (event.Action === "fail") failed += 1;
  }
  // A package that does not compile fails no test of its own.
  counts.failed += (await exited) !== 0 ? Math.max(failed, 1) : failed;
}

/** One line of `go test -json`; a line of the toolchain's own is output. */
function parseGoEvent(line) {
  try {
    return JSON.parse(line);
  } catch {
    return { Action: "output", Output: `${line}\n` };
  }
}
