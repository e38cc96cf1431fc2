// npm test: every test of the project against one real broker and registry. The last line is `N passed, N failed, N skipped`.
// npm run test:faults [-- NAME]: the long forms of the fault tests alone.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { environment, exitCode, install, root, spawnNode } from "./bootstrap.mjs";

const [first, ...rest] = process.argv.slice(2);
const faults = first === "--faults";
const filters = faults ? rest.map((name) => `test/faults/${name}`) : process.argv.slice(2);
if (faults && filters.length === 0) filters.push("test/faults/");

install();
const reports = mkdtempSync(join(tmpdir(), "posthaste-test-report-"));
const counts = { passed: 0, failed: 0, skipped: 0 };
let stack;
try {
  stack = await startStack();
  await runVitest(stack.env);
  if (filters.length === 0) await runGo();
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
  const report = join(reports, "vitest.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const code = await exitCode(
    spawnNode(["node_modules/vitest/vitest.mjs", "run", ...reporters, ...filters], {
      env: { ...env, ...(faults ? { POSTHASTE_LONG_FAULTS: "true" } : {}) },
    }),
  );
  const result = JSON.parse(readFileSync(report, "utf8"));
  counts.passed += result.numPassedTests;
  counts.failed += result.numFailedTests;
  counts.skipped += result.numPendingTests + result.numTodoTests;
  // A file that does not load and an error between tests count no test as failed.
  if (code !== 0 && result.numFailedTests === 0) counts.failed += 1;
  if (filters.length > 0) return;
  const ran = new Set(result.testResults.map(({ name }) => relative(root, name)));
  for (const file of testFiles()) {
    if (ran.has(file)) continue;
    console.error(`${file} was not run: no project includes it`);
    counts.failed += 1;
  }
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
