/**
 * npm run bench -- [--short] [--only=LOAD,LOAD] [--check | --accept] [--sources=FOLDER]: the whole path from a call to
 * its POST, beside a raw loop of signed POSTs to the same receiver, in turns: the deliveries a second, and the CPU that
 * each process takes for one. One round comes cold, the others after a minute of load; in short form all are short.
 * `--check` ends with 1 where a process takes over 15 % more than in the last accepted run and does so again when the
 * load is repeated; `--accept` writes the figures of this run down as accepted, and draws docs/images/benchmark.svg.
 * `--sources` runs the services of another clone. Needs Linux's `/proc`, and wrk.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { missingWrk } from "./ingest/wrk.ts";
import { closedLoop, type Load, openLoop } from "./whole/loads.ts";
import { accept, excessesOf } from "./whole/ratchet.ts";
import { measureRawLoop, memoryNow, PROCESSES, startWholeBench } from "./whole/whole-bench.ts";
import { plotOf, type Round, type Summary, summaryOf, tableOf } from "./whole/whole-figures.ts";

const { values: asked } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    accept: { type: "boolean", default: false },
    only: { type: "string" },
    sources: { type: "string" },
  },
});
const PLOT = new URL("../../docs/images/benchmark.svg", import.meta.url);
const { rounds, seconds, coldSeconds, warmSeconds, loopSeconds } = asked.short
  ? { rounds: 1, seconds: 1, coldSeconds: 1, warmSeconds: 1, loopSeconds: 1 }
  : { rounds: 5, seconds: 8, coldSeconds: 10, warmSeconds: 60, loopSeconds: 3 };

const SINGLE = closedLoop({ connections: 32 });
const LOADS: Readonly<Record<string, Load>> = {
  "single, 32": SINGLE,
  "single, 128": closedLoop({ connections: 128 }),
  "batches of 20": closedLoop({ connections: 32, batch: 20 }),
  "to five": closedLoop({ connections: 32, sourceOf: ({ toFive }) => toFive }),
  "200/s": openLoop(200),
  "1,000/s": openLoop(1000),
};
const wanted = Object.entries(LOADS).filter(
  ([name]) => asked.only === undefined || asked.only.split(";").includes(name),
);

const missing = missingWrk();
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
const bench = await startWholeBench(asked.sources);
try {
  const loop = () => measureRawLoop(bench, loopSeconds);
  const cold: Round = { ...(await SINGLE(bench, coldSeconds)), loop: await loop() };
  await SINGLE(bench, warmSeconds);
  const measure = async (): Promise<Summary[]> => {
    const all = new Map(wanted.map(([name]) => [name, [] as Round[]]));
    for (let round = 1; round <= rounds; round += 1) {
      const beside = await loop();
      for (const [name, load] of wanted) all.get(name)?.push({ ...(await load(bench, seconds)), loop: beside });
      console.error(`round ${round} of ${rounds}: the raw loop makes ${beside.perSecond.toFixed(0)} a second`);
    }
    return [...all].map(([name, each]) => summaryOf(name, each));
  };
  const summaries = await measure();
  console.log(tableOf([summaryOf("single, 32, cold", [cold]), ...summaries]));
  const memory = memoryNow(bench.installation);
  console.log(`memory: ${PROCESSES.map((name) => `${name} ${memory[name].toFixed(0)} MB`).join(", ")}`);
  if (asked.accept) {
    accept(summaries);
    writeFileSync(PLOT, plotOf(summaries));
  }
  if (asked.check && excessesOf(summaries).length > 0) {
    const excesses = excessesOf(await measure());
    for (const { load, process: name, times, accepted } of excesses) {
      console.log(
        `${load}: ${name} takes ${times.toFixed(2)} times the raw loop's CPU, ${accepted} when it was accepted`,
      );
    }
    if (excesses.length > 0) process.exitCode = 1;
  }
} finally {
  await bench.close();
}
