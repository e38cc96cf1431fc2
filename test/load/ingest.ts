/**
 * npm run bench:ingest [-- --short] [--only=throughput|latency|overload|neighbours|attacks]: ingest's cost beside a
 * bare node:http server, the time of its acknowledgement, the effect of twice too much load, and the effect of a
 * neighbour and of attacks on an honest source (`--attack=4` of one alone). Ratios in one run, for docs/benchmarks.md.
 * Needs Linux's `/proc`, and wrk but for the attacks. Ends with 1 when something of the overload or the neighbours does
 * not hold; the ratios are told and not judged.
 */
import { setUpForBenchmark } from "@posthaste/tooling/kafka-global-setup";
import { printAttacks } from "./ingest/ingest-attacks.ts";
import { createIngestBench } from "./ingest/ingest-bench.ts";
import { printLatency } from "./ingest/ingest-latency.ts";
import { printNeighbours } from "./ingest/ingest-neighbours.ts";
import { printOverload } from "./ingest/ingest-overload.ts";
import { printThroughput } from "./ingest/ingest-throughput.ts";
import { missingWrk } from "./ingest/wrk.ts";

const short = process.argv.includes("--short");
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
const runs = (part: string) => only === undefined || only === part;

const attack = process.argv.find((argument) => argument.startsWith("--attack="))?.slice("--attack=".length);
const missing = only === "attacks" ? undefined : missingWrk();
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
const stop = await setUpForBenchmark();
const bench = await createIngestBench();
try {
  if (runs("throughput")) await printThroughput(bench, short ? 2 : 5, short ? 4 : 7);
  if (runs("latency")) await printLatency(bench, short ? 2 : 5, short ? 4 : 6);
  if (runs("overload") && !(await printOverload(bench, short ? 10 : 60))) process.exitCode = 1;
  if (runs("neighbours") && !(await printNeighbours(bench, short ? 5 : 15))) process.exitCode = 1;
  if (runs("attacks")) await printAttacks(bench, short ? 4 : 8, attack);
} finally {
  await bench.close();
  await stop?.();
}
