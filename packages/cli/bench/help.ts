/**
 * How long `posthaste --help` takes beside Node's own start, in pairs, on a quiet machine:
 *
 *     node packages/cli/bench/help.ts [pairs]
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const BINARY = fileURLToPath(new URL("../bin/posthaste.mjs", import.meta.url));
const DEFAULT_PAIRS = 40;

function msOf(args: readonly string[]): number {
  const startedMs = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: "ignore" });
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}`);
  return performance.now() - startedMs;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const pairs = Number(process.argv[2] ?? DEFAULT_PAIRS);
const help = [BINARY, "--help"];
// The first one fills the compile cache.
msOf(help);
const measured = Array.from({ length: pairs }, () => ({ node: msOf(["-e", "0"]), help: msOf(help) }));
const [node, own] = [median(measured.map((pair) => pair.node)), median(measured.map((pair) => pair.help))];
const ratio = median(measured.map((pair) => pair.help / pair.node));
process.stdout.write(
  `node -e 0: ${node.toFixed(1)} ms; posthaste --help: ${own.toFixed(1)} ms; ratio ${ratio.toFixed(2)} (medians of ${pairs})\n`,
);
