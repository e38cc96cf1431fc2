// npm run test:stress [-- ROUNDS] [--seed=N] [--quiet]: the whole of `npm test` ROUNDS times (10), its files in random
// order, beside 8 processes that compute and one that writes to the disk. --quiet leaves these out. Prints the tests
// that failed, each with its rounds and their seeds, and ends with 1 when one did.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { exitCode, install, root, spawnNode } from "./bootstrap.mjs";

const BUSY_PROCESSES = 8;
/** Each ends with its parent, however that ends: its parent is another then. */
const BUSY = "for (const parent = process.ppid; process.ppid === parent; );";
/** Writes a file of 64 MB again and again, each block forced to the disk. */
const WRITER = `
  const { closeSync, fsyncSync, openSync, writeSync } = require("node:fs");
  const block = Buffer.alloc(4 * 1024 * 1024, 1);
  for (const parent = process.ppid; process.ppid === parent; ) {
    const file = openSync(process.argv[1], "w");
    for (let n = 0; n < 16; n += 1) {
      writeSync(file, block);
      fsyncSync(file);
    }
    closeSync(file);
  }`;

const { values, positionals } = parseArgs({
  options: { seed: { type: "string" }, quiet: { type: "boolean", default: false } },
  allowPositionals: true,
});
const rounds = Number(positionals[0] ?? 10);
const firstSeed = Number(values.seed ?? Date.now() % 1_000_000);
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(firstSeed)) {
  console.error("usage: npm run test:stress -- [ROUNDS] [--seed=N] [--quiet]");
  process.exit(2);
}

install();
const folder = mkdtempSync(join(tmpdir(), "posthaste-stress-"));
const beside = values.quiet ? [] : startBeside();
/** The seeds of the rounds in which a test failed, by the test. */
const failures = new Map();
let failedRounds = 0;
let running;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
process.once("exit", () => {
  for (const child of beside) child.kill("SIGKILL");
  // With the processes that it started.
  if (running !== undefined) process.kill(-running.pid, "SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});
for (let round = 0; round < rounds; round += 1) await runRound(firstSeed + round);
for (const [test, seeds] of failures)
  console.log(`failed in ${seeds.length} of ${rounds} (${seeds.join(", ")}): ${test}`);
console.log(`${rounds - failedRounds} rounds passed, ${failedRounds} rounds failed`);
process.exitCode = failedRounds === 0 ? 0 : 1;

function startBeside() {
  const busy = Array.from({ length: BUSY_PROCESSES }, () => spawn(process.execPath, ["-e", BUSY], { stdio: "ignore" }));
  return [...busy, spawn(process.execPath, ["-e", WRITER, join(folder, "written")], { stdio: "ignore" })];
}

async function runRound(seed) {
  const report = join(folder, "report.json");
  const startedAt = performance.now();
  rmSync(report, { force: true });
  running = spawnNode(["scripts/test.mjs", "--sequence.shuffle.files", `--sequence.seed=${seed}`], {
    env: { POSTHASTE_TEST_REPORT: report },
    detached: true,
  });
  const code = await exitCode(running);
  running = undefined;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(`round with seed ${seed}: ${code === 0 ? "passed" : "FAILED"} in ${seconds} s`);
  if (code === 0) return;
  failedRounds += 1;
  for (const test of failedTests(report)) failures.set(test, [...(failures.get(test) ?? []), seed]);
}

/** The names of the tests that failed; of a file that failed as a whole, or of the run, one name. */
function failedTests(report) {
  let files;
  try {
    files = JSON.parse(readFileSync(report, "utf8")).testResults;
  } catch {
    return ["the run ended without a report"];
  }
  const failed = files.flatMap(({ name, status, assertionResults }) => {
    const file = relative(root, name);
    const tests = assertionResults
      .filter((each) => each.status === "failed")
      .map(({ fullName }) => `${file}: ${fullName}`);
    return tests.length === 0 && status === "failed" ? [`${file}: the file as a whole`] : tests;
  });
  return failed.length > 0 ? failed : ["outside of vitest's tests: see the output above"];
}
