/**
 * npm run bench:ingest [-- --short] [--only=throughput|latency|overload]: what ingest costs beside a bare node:http server, what
 * its acknowledgement takes, and what twice too much load does to it. Ratios in one run, for docs/benchmarks.md. Needs Linux's
 * `/proc`, and wrk. Ends with 1 when something of the overload does not hold; the ratios are told and not judged.
 */
import { setUpForBenchmark } from "@posthaste/tooling/kafka-global-setup";
import { createIngestBench } from "./ingest-bench.ts";
import { printLatency } from "./ingest-latency.ts";
import { printOverload } from "./ingest-overload.ts";
import { printThroughput } from "./ingest-throughput.ts";
import { missingWrk } from "./wrk.ts";

const short = process.argv.includes("--short");
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
const runs = (part: string) => only === undefined || only === part;

const missing = missingWrk();
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
} finally {
  await bench.close();
  await stop?.();
}
