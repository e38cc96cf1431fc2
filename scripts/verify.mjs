// npm run verify: every check that runs nothing of the project, each a line. All of them run, so one run shows all that
// is wrong.
import { spawnSync } from "node:child_process";
import { environment, install, root } from "./bootstrap.mjs";

const STEPS = [
  [
    "types, builds, the client's manifest and size",
    "turbo",
    ["run", "typecheck", "build", "check:exports", "--output-logs=errors-only"],
  ],
  ["import direction", "turbo", ["boundaries"]],
  ["rooms: no circle of folders", "node", ["scripts/check-rooms.mjs"]],
  ["comments: short lines, plain English", "node", ["scripts/check-comments.mjs"]],
  ["rules: one owner each", "node", ["scripts/check-rules.mjs"]],
  ["words: no private words in names", "node", ["scripts/check-glossary.mjs"]],
  ["schemas: each reads what the committed ones wrote", "node", ["scripts/check-schemas.mjs"]],
  ["format and lint", "biome", ["ci", "--colors=off", "."]],
  ["nothing unused", "knip", []],
  ["actions and images are pinned", "node", ["scripts/check-pins.mjs"]],
];

install();
const env = environment({ TURBO_NO_UPDATE_NOTIFIER: "1" });
let failed = 0;
for (const [title, command, args] of STEPS) {
  const startedAt = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    env,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (status === 0) {
    console.log(`ok      ${title} (${seconds} s)`);
    // Parts that a check could not look at are named though it passed.
    for (const [line] of (stdout ?? "").matchAll(/^note: .*$/gm)) console.log(`        ${line}`);
    continue;
  }
  failed += 1;
  console.log(`${stdout ?? ""}${stderr ?? ""}`);
  console.log(`FAILED  ${title}: ${command} ${args.join(" ")}`);
}
process.exit(failed === 0 ? 0 : 1);
