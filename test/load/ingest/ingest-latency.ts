/**
 * The time of an acknowledgement at a steady rate, beside its least possible time: an answer of a bare server and a
 * produce round trip. The three take turns, and the medians of the rounds' ratios are told: on a shared machine a stall
 * of some tens of ms falls into one round or another, and is that round's p99.
 */
import { Agent, request } from "node:http";
import { median } from "../figures/statistics.ts";
import { type Latency, measureLatency } from "../setup/open-loop.ts";
import { HEADERS, type IngestBench } from "./ingest-bench.ts";
import { SINGLE_BODY } from "./ingest-calls.ts";

/** Calls a second. */
const RATE = 200;
const WARM_UP_SECONDS = 2;

/** Prints each round, and the medians of the rounds' ratios. */
export async function printLatency(bench: IngestBench, rounds: number, seconds: number): Promise<void> {
  const bare = await bench.startBare();
  const ingest = await bench.startIngest();
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const record = { topic: bench.names.rejectedCalls, key: "k", value: Buffer.from(SINGLE_BODY) };
  const asks = [
    () => post(agent, bare.url),
    () => bench.producer.send([record]),
    () => post(agent, ingest.url),
  ] as const;
  console.log(
    `\nAcknowledgement at ${RATE} calls a second, ${rounds} rounds of ${seconds} s each, p50 and p99 in ms\n`,
  );
  console.log("| round | bare p50 | p99 | produce p50 | p99 | ingest p50 | p99 |\n|---|---|---|---|---|---|---|");
  const ratios: Latency[] = [];
  for (const ask of asks) await measureLatency(RATE, WARM_UP_SECONDS, ask);
  for (let round = 1; round <= rounds; round += 1) {
    const answer = await measureLatency(RATE, seconds, asks[0]);
    const produce = await measureLatency(RATE, seconds, asks[1]);
    const whole = await measureLatency(RATE, seconds, asks[2]);
    const cells = [answer, produce, whole].flatMap(({ p50Ms, p99Ms }) => [p50Ms.toFixed(2), p99Ms.toFixed(2)]);
    console.log(`| ${[round, ...cells].join(" | ")} |`);
    ratios.push({
      p50Ms: whole.p50Ms / (answer.p50Ms + produce.p50Ms),
      p99Ms: whole.p99Ms / (answer.p99Ms + produce.p99Ms),
    });
  }
  const p50 = median(ratios.map(({ p50Ms }) => p50Ms)).toFixed(2);
  const p99 = median(ratios.map(({ p99Ms }) => p99Ms)).toFixed(2);
  console.log(
    `\ningest: p50 ${p50} times the bare server plus a produce (to reach: under 3), p99 ${p99} times (under 5)`,
  );
  agent.destroy();
  await bare.stop();
  await ingest.stop();
}

function post(agent: Agent, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { ...HEADERS, "content-length": String(Buffer.byteLength(SINGLE_BODY)) };
    const sent = request(`${url}/v1/track`, { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.once("end", () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`)),
      );
    });
    sent.once("error", reject);
    sent.end(SINGLE_BODY);
  });
}
