// npm run test:mutation -- PACKAGE [FILE ...]: StrykerJS damages the sources of a package, one place at a time, and
// says which damages its tests do not notice. PACKAGE is a folder, such as packages/core; FILE one below its src, such
// as lanes.ts, or some lines of one, such as lanes.ts:1-60. Of the tests that need no broker those run that reach the
// file.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exitCode, install, passSignals, root, spawnNode } from "./bootstrap.mjs";

const [folder, ...files] = process.argv.slice(2);
if (folder === undefined || !existsSync(join(root, folder, "package.json"))) {
  console.error("usage: npm run test:mutation -- PACKAGE [FILE ...], for instance packages/core lanes.ts");
  process.exit(2);
}

install();
const work = mkdtempSync(join(tmpdir(), "posthaste-mutation-"));
const report = join(work, "report.json");
const config = join(work, "stryker.json");
writeFileSync(config, JSON.stringify(settings()));
try {
  const child = spawnNode(
    [
      fileURLToPath(new URL("bin/stryker.js", import.meta.resolve("@stryker-mutator/core/package.json"))),
      "run",
      config,
    ],
    {
      cwd: join(root, folder),
      // The tests that need no broker, and none for them (packages/tooling/vitest.ts).
      env: { POSTHASTE_MUTATION: "true" },
    },
  );
  passSignals(child);
  const code = await exitCode(child);
  if (existsSync(report)) print(JSON.parse(readFileSync(report, "utf8")));
  process.exitCode = code;
} finally {
  rmSync(work, { recursive: true, force: true });
}

function settings() {
  return {
    testRunner: "vitest",
    plugins: [fileURLToPath(import.meta.resolve("@stryker-mutator/vitest-runner"))],
    mutate:
      files.length > 0 ? files.map((file) => `src/${file}`) : ["src/**/*.ts", "!src/**/*.test.ts", "!src/main.ts"],
    // The text of a message is no rule.
    mutator: { excludedMutations: ["StringLiteral"] },
    // A damage that runs for ever is found by this, so it needs no long wait; longer than a test may take
    // (packages/tooling/vitest.ts).
    timeoutMS: 8000,
    concurrency: Number(process.env.POSTHASTE_MUTATION_CONCURRENCY ?? 1),
    // Their base lies outside of the copy that is damaged, and nothing that runs needs them.
    ignorePatterns: ["tsconfig*.json", "dist", "bench"],
    tsconfigFile: "none.json",
    disableTypeChecks: false,
    reporters: ["json", "progress"],
    jsonReporter: { fileName: report },
    tempDirName: ".stryker-tmp",
    cleanTempDir: "always",
    allowConsoleColors: false,
  };
}

/** Some lines a survivor, then one a file: damages that were noticed, of all that a test could notice. */
function print({ files: mutated }) {
  const scores = [];
  for (const [path, { source, mutants }] of Object.entries(mutated)) {
    const lines = source.split("\n");
    const of = (...states) => mutants.filter(({ status }) => states.includes(status));
    // A mutant that ran for ever was seen to; a mutant that ran out of time may have been slow only, and is to be
    // judged as a survivor is.
    const isSlow = ({ status, statusReason }) => status === "Timeout" && !statusReason?.startsWith("Hit limit");
    for (const mutant of mutants) {
      const { location, replacement, mutatorName, status } = mutant;
      if (status !== "Survived" && status !== "NoCoverage" && !isSlow(mutant)) continue;
      const { start } = location;
      console.log(`${path}:${start.line}:${start.column} ${status} ${mutatorName}`);
      console.log(`  - ${lines[start.line - 1].trim()}`);
      console.log(
        `  + ${replacement
          .split("\n")
          .map((line) => line.trim())
          .join(" ")
          .slice(0, 160)}`,
      );
    }
    const timedOut = mutants.filter(isSlow).length;
    const noticed = of("Killed", "Timeout").length;
    const all = noticed + of("Survived", "NoCoverage").length;
    if (all > 0) scores.push({ path, noticed, all, timedOut });
  }
  for (const { path, noticed, all, timedOut } of scores) {
    const percent = ((100 * noticed) / all).toFixed(1).padStart(5);
    const count = `${String(noticed).padStart(4)} of ${String(all).padEnd(4)}`;
    console.log(`${percent} %  ${count}  ${path}${timedOut > 0 ? `  (${timedOut} ran out of time)` : ""}`);
  }
}
