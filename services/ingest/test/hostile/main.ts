/**
 * `npm run test:hostile -- [--minutes=10] [--seed=S]`: a search for the requests that cost the gateway most for their
 * bytes. Prints its seed, its progress, the dearest forms of each kind and their costs, in CPU and memory of the
 * gateway's own process. The last line says whether all kept to their bounds (bounds.ts); it ends with 1 when one did
 * not.
 */
import { parseArgs } from "node:util";
import { setUpForBenchmark } from "@posthaste/tooling/kafka-global-setup";
import { kindOf } from "./form.ts";
import { KNOWN_FORMS } from "./known-forms.ts";
import { startMeter } from "./meter.ts";
import { complaint, reportOf } from "./report.ts";
import { searchDearest } from "./search.ts";

/** The tolerance of a measurement. */
const TOLERANCE = 1.25;
const SAID_EVERY_MS = 15_000;

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string" } },
});
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
const startedAtMs = performance.now();
const elapsedMs = () => performance.now() - startedAtMs;
const stop = await setUpForBenchmark();
const meter = await startMeter();
try {
  console.log(`${values.minutes} minutes from seed ${seed}`);
  let saidAtMs = 0;
  let forms = 0;
  const known = Object.values(KNOWN_FORMS);
  const dearest = await searchDearest({
    seed,
    known,
    measure: meter.measure,
    goesOn: (tried) => tried < known.length || elapsedMs() < Number(values.minutes) * 60_000,
    onTried: ({ form }, tried, { all }) => {
      forms = tried;
      if (elapsedMs() - saidAtMs < SAID_EVERY_MS) return;
      saidAtMs = elapsedMs();
      const { value, spread } = meter.slowness;
      const dear = Math.max(...all().map(({ cost }) => cost.cpuMs));
      console.log(
        `${Math.round(saidAtMs / 1000)} s: ${tried} forms, the dearest ${dear.toFixed(1)} ms; this machine takes ${value.toFixed(2)} times the reference's CPU (${spread.least.toFixed(2)} to ${spread.most.toFixed(2)}); last: a form of kind "${kindOf(form)}"`,
      );
    },
  });
  for (const line of reportOf(dearest)) console.log(line);
  const complaints = new Map(dearest.all().map((found) => [JSON.stringify(found.form), complaint(found, TOLERANCE)]));
  const over = [...complaints].filter(([, said]) => said !== "");
  for (const [form, said] of over) console.log(`over its bound: ${said}: ${form}`);
  console.log(`${forms} forms tried, ${over.length === 0 ? "all" : `all but ${over.length}`} within their bounds`);
  if (over.length > 0) process.exitCode = 1;
} finally {
  await meter.close();
  await stop?.();
}
