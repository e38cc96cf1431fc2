/**
 * How long `posthaste --help` takes beside Node's own start, in pairs, by the clock, which asks for a quiet machine,
 * and by the processor, which does not:
 *
 *     node packages/cli/bench/help.ts [pairs]
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const BINARY = fileURLToPath(new URL("../bin/posthaste.mjs", import.meta.url));
const DEFAULT_PAIRS = 40;
/** Prints what the shell's children took of the processor, in its second line. */
const TIMED = ["-c", '"$@" > /dev/null && times', "sh", process.execPath];

interface Taken {
  readonly ms: number;
  readonly processorMs: number;
}

function take(args: readonly string[]): Taken {
  const startedMs = performance.now();
  const { status, stdout } = spawnSync("sh", [...TIMED, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}`);
  const ms = performance.now() - startedMs;
  const [, children = ""] = stdout.trim().split("\n");
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(([, min, s]) => Number(min) * 60 + Number(s));
  return { ms, processorMs: seconds.reduce((sum, each) => sum + each, 0) * 1000 };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const pairs = Number(process.argv[2] ?? DEFAULT_PAIRS);
const help = [BINARY, "--help"];
// The first one fills the compile cache.
take(help);
const measured = Array.from({ length: pairs }, () => ({ node: take(["-e", "0"]), own: take(help) }));
for (const [name, of] of [
  ["by the clock", ({ ms }: Taken) => ms],
  ["of the processor", ({ processorMs }: Taken) => processorMs],
] as const) {
  const [node, own] = [median(measured.map((pair) => of(pair.node))), median(measured.map((pair) => of(pair.own)))];
  const ratio = median(measured.map((pair) => of(pair.own) / of(pair.node)));
  const figures = `node -e 0 ${node.toFixed(0)} ms, posthaste --help ${own.toFixed(0)} ms, ratio ${ratio.toFixed(2)}`;
  process.stdout.write(`${name}: ${figures} (medians of ${pairs})\n`);
}
