// npm test: every test of the project against one real broker and registry. The last line is `N passed, N failed, N
// skipped`. npm test -- PACKAGE...: those of some packages or services, by the names of their folders (kafka,
// delivery); or of what stands below a path (packages/kafka/test). A broker is started only for tests that need one.
// npm run test:faults [-- NAME]: the long forms of the fault tests alone, one file at a time.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { environment, exitCode, install, root, spawnNode } from "./bootstrap.mjs";

const GO_CLIENT = "packages/client-go/";
/** Files that take longer are printed at the end. */
const SLOW_MS = 10_000;

const [first, ...rest] = process.argv.slice(2);
const faults = first === "--faults";
const filters = faults ? rest.map((name) => `test/faults/${name}`) : process.argv.slice(2).map(folderOf);
if (faults && filters.length === 0) filters.push("test/faults/");

install();
const reports = mkdtempSync(join(tmpdir(), "posthaste-test-report-"));
const counts = { passed: 0, failed: 0, skipped: 0 };
let stack;
try {
  // Of some packages perhaps none needs a broker; those that do start one (packages/tooling/kafka-global-setup.ts).
  stack = filters.length === 0 ? await startStack() : { env: {}, stop: async () => {} };
  await runVitest(stack.env);
  if (filters.length === 0 || filters.includes(GO_CLIENT)) await runGo();
} catch (error) {
  counts.failed += 1;
  console.error(String(error));
} finally {
  await stack?.stop();
  rmSync(reports, { recursive: true, force: true });
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

/** The stack that the environment names, else one for this run. */
async function startStack() {
  if (process.env.KAFKA_BROKERS && process.env.SCHEMA_REGISTRY_URL) return { env: {}, stop: async () => {} };
  const child = spawnNode(["packages/local-stack/src/test-stack.ts"], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = exitCode(child);
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then((code) => {
      throw new Error(`the test stack ended with code ${code} before it was ready`);
    }),
  ]);
  const { brokers, schemaRegistry } = JSON.parse(line);
  const stop = async () => {
    child.stdin.end();
    // A broker that ended by itself during the run is a failure, whatever the tests say.
    if ((await exited) !== 0) counts.failed += 1;
  };
  return { env: { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL: schemaRegistry }, stop };
}

async function runVitest(env) {
  const ofVitest = filters.filter((filter) => filter !== GO_CLIENT);
  if (filters.length > 0 && ofVitest.length === 0) return;
  const report = join(reports, "vitest.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  // A long form measures what it does to the brokers, alone.
  const workers = faults ? ["--maxWorkers=1"] : [];
  const code = await exitCode(
    spawnNode(["node_modules/vitest/vitest.mjs", "run", ...reporters, ...workers, ...ofVitest], {
      env: { ...env, ...(faults ? { POSTHASTE_LONG_FAULTS: "true" } : {}) },
    }),
  );
  const result = JSON.parse(readFileSync(report, "utf8"));
  counts.passed += result.numPassedTests;
  counts.failed += result.numFailedTests;
  counts.skipped += result.numPendingTests + result.numTodoTests;
  // A file that does not load and an error between tests count no test as failed.
  if (code !== 0 && result.numFailedTests === 0) counts.failed += 1;
  printSlowFiles(result.testResults);
  if (filters.length > 0) return;
  const ran = new Set(result.testResults.map(({ name }) => relative(root, name)));
  for (const file of testFiles()) {
    if (ran.has(file)) continue;
    console.error(`${file} was not run: no project includes it`);
    counts.failed += 1;
  }
}

/** The files that a run waits for; packages/tooling/test-order.ts spreads the busy ones over the run. */
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
      .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules") && !path.includes("dist")),
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
