/**
 * One source's effect on another: one sends 200 calls a second while its neighbour sends everything it can, in every
 * form. The invariants: the first is answered 200 every time, 99 in 100 of its calls within 50 ms, and memory stays
 * under a ceiling. Beside that it is told how long the gateway and the caller were ready and had no core, since they
 * wait for the machine then, which the load, the broker and others share with them.
 */
import { Agent, request } from "node:http";
import { gzipSync } from "node:zlib";
import { processRssBytes, withWaits } from "../figures/process-cpu.ts";
import { measureLatency } from "../setup/open-loop.ts";
import { HEADERS, type IngestBench, NEIGHBOUR_HEADERS } from "./ingest-bench.ts";
import { BATCH_BODY, SINGLE_BODY } from "./ingest-calls.ts";
import { runWrk, type WrkLoad } from "./wrk.ts";

/** Calls a second of the source that is looked at. */
const RATE = 200;
const P99_MS = 50;
const CEILING_MB = 512;
const SAMPLE_MS = 200;
/** The neighbour begins so long before, and ends as long after. */
const MARGIN_SECONDS = 1;
const MAX_BYTES = 512_000;

interface Form {
  readonly name: string;
  readonly path: string;
  readonly connections: number;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

const GZIP = { "Content-Encoding": "gzip" };
const TINY_CALL = `{"type":"track","userId":"u","event":"E"}`;
const batchOf = (call: string) => {
  const calls = Math.floor((MAX_BYTES - 20) / (call.length + 1));
  return `{"batch":[${Array.from({ length: calls }, () => call).join(",")}]}`;
};
const callOf = (properties: string) =>
  `{"batch":[{"type":"track","userId":"u","event":"E","properties":{"a":[${properties}0]}}]}`;

const FORMS: readonly Form[] = [
  { name: "single calls", path: "/v1/track", connections: 64, body: SINGLE_BODY },
  { name: "single calls", path: "/v1/track", connections: 1024, body: SINGLE_BODY },
  { name: "batches of 20", path: "/v1/batch", connections: 64, body: BATCH_BODY },
  { name: "batches of 20", path: "/v1/batch", connections: 1024, body: BATCH_BODY },
  { name: "500 KB of calls", path: "/v1/batch", connections: 64, body: batchOf(SINGLE_BODY) },
  {
    name: "500 KB of tiny calls, compressed",
    path: "/v1/batch",
    connections: 64,
    body: gzipSync(batchOf(TINY_CALL)),
    headers: GZIP,
  },
  {
    name: "500 KB of empty objects, compressed",
    path: "/v1/batch",
    connections: 64,
    body: gzipSync(callOf("{},".repeat(170_000))),
    headers: GZIP,
  },
];

/** The settings that leave a source everything, so that only its share protects the other. */
const NO_LIMIT = {
  POSTHASTE_SOURCE_CALLS_PER_SECOND: "10000000",
  POSTHASTE_SOURCE_BYTES_PER_SECOND: "10000000000",
};
const DEFAULT_LIMIT = { POSTHASTE_SOURCE_CALLS_PER_SECOND: undefined, POSTHASTE_SOURCE_BYTES_PER_SECOND: undefined };

/** Prints a row for each form, with the default limit and with none. Returns whether all of it held. */
export async function printNeighbours(bench: IngestBench, seconds: number): Promise<boolean> {
  console.log(`\nA source at ${RATE} calls a second beside one that sends everything it can, ${seconds} s each\n`);
  console.log(
    "| limit | neighbour | connections | its requests /s | refused /s | p50 ms | p99 ms | refused | MB at most | gateway without a core ms/s | caller |",
  );
  console.log("|---|---|---|---|---|---|---|---|---|---|---|");
  let holds = true;
  for (const [limit, settings] of [
    ["default", DEFAULT_LIMIT],
    ["none", NO_LIMIT],
  ] as const) {
    const ingest = await bench.startIngest(settings);
    const agent = new Agent({ keepAlive: true, maxSockets: 64 });
    let refused = 0;
    const ask = async () => {
      if ((await post(agent, ingest.url)) !== 200) refused++;
    };
    const measured = async (form: Form | null) => {
      refused = 0;
      let highest = 0;
      const sampling = setInterval(() => {
        highest = Math.max(highest, processRssBytes(ingest.pid) / 1e6);
      }, SAMPLE_MS);
      const load = form === null ? null : runWrk(loadOf(ingest.url, form, seconds + 2 * MARGIN_SECONDS));
      await measureLatency(RATE, MARGIN_SECONDS, ask);
      const { result, waits } = await withWaits([ingest.pid], seconds, () => measureLatency(RATE, seconds, ask));
      const { p50Ms, p99Ms } = result;
      const wrk = await load;
      clearInterval(sampling);
      const perSecond = (count: number) => (count / (seconds + 2 * MARGIN_SECONDS)).toFixed(0);
      const cells = [
        limit,
        form?.name ?? "none",
        form?.connections ?? 0,
        perSecond(wrk?.requests ?? 0),
        perSecond(wrk?.refused ?? 0),
      ];
      console.log(
        `| ${[...cells, p50Ms.toFixed(1), p99Ms.toFixed(1), refused, highest.toFixed(0), ...waits].join(" | ")} |`,
      );
      if (p99Ms >= P99_MS || refused > 0 || highest >= CEILING_MB) holds = false;
    };
    await measureLatency(RATE, MARGIN_SECONDS, ask);
    await measured(null);
    for (const form of FORMS) await measured(form);
    agent.destroy();
    await ingest.stop();
  }
  console.log(`\n${holds ? "yes" : "NO"}: p99 under ${P99_MS} ms, none refused, memory under ${CEILING_MB} MB`);
  return holds;
}

function loadOf(url: string, { path, connections, body, headers = {} }: Form, seconds: number): WrkLoad {
  return { url: url + path, connections, seconds, body, headers: { ...NEIGHBOUR_HEADERS, ...headers } };
}

/** The answer's status. */
function post(agent: Agent, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { ...HEADERS, "content-length": String(Buffer.byteLength(SINGLE_BODY)) };
    const sent = request(`${url}/v1/track`, { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    sent.once("error", reject);
    sent.end(SINGLE_BODY);
  });
}
