/**
 * npm run bench:control -- [--short]: twenty operations of control's API, 100 calls a second in turns, alone
 * and beside each of its jobs: a replay of 200,000 dead letters at full speed, an audience sync of 200,000 users, and
 * 5,000 attempts a second flowing into the read model (20,000, 20,000 and 1,000 in short form). Prints p50 and p99 of
 * each, as a multiple of the p99 alone, and how idle the cores were. Ends with 1 when a p99 is over
 * twice the one alone.
 */
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "@posthaste/testkit/eventually";
import { type Installation, startInstallation } from "../e2e/installation.ts";
import { createRoute } from "../e2e/route.ts";
import { writeDeadLetters } from "../e2e/write-dead-letters.ts";
import { Figures } from "./figures/figures.ts";
import { withIdle } from "./figures/process-cpu.ts";
import { measureLatency } from "./setup/open-loop.ts";
import { readTo, writeLog } from "./setup/read-model-log.ts";
import { type Sink, startSink } from "./setup/sink.ts";

const short = process.argv.includes("--short");
const JOB_SIZE = short ? 20_000 : 200_000;
const ATTEMPTS_PER_SECOND = short ? 1000 : 5000;
const CALLS_PER_SECOND = 100;
const SECONDS = short ? 5 : 20;
const MOST_TIMES_ALONE = 2;
/** The share of the cores' time between two jobs. */
const ENOUGH_IDLE = 0.5;

interface Prepared {
  readonly installation: Installation;
  readonly destinationId: string;
  readonly sourceId: string;
  readonly audienceId: string;
}

/** The twenty operations by their paths. */
function operations({ destinationId, sourceId, audienceId }: Prepared): readonly string[] {
  return [
    ...["/v1/sources", `/v1/sources/${sourceId}`, `/v1/sources/${sourceId}/calls`],
    ...[
      "/v1/destinations",
      `/v1/destinations/${destinationId}`,
      "/v1/health/destinations",
      `/v1/health/destinations/${destinationId}`,
    ],
    ...["/v1/deliveries", "/v1/deliveries/latest", "/v1/deliveries?outcome=retryable"],
    ...["/v1/dead-letters", "/v1/dead-letters/counts", "/v1/dead-letters/groups"],
    ...["/v1/events/attempt-1", "/v1/replays", "/v1/audiences", `/v1/audiences/${audienceId}`],
    ...["/v1/audit", "/v1/status", "/v1/tokens"],
  ];
}

async function prepare(installation: Installation, sink: Sink): Promise<Prepared> {
  const { control } = installation;
  const { sourceId, destinationId } = await createRoute(installation, { url: sink.origin }, "/ok");
  const audience = (await control.call("POST", "/v1/audiences", { name: "Everybody", sourceId })) as { id: string };
  await writeLog(installation, { kind: "attempts", count: JOB_SIZE, destinationIds: [destinationId] });
  await writeDeadLetters(installation, { destinationId, sourceId, name: "letter", count: JOB_SIZE });
  for (const list of ["/v1/deliveries", "/v1/dead-letters"]) await readTo(installation, list, Date.now());
  return { installation, destinationId, sourceId, audienceId: audience.id };
}

async function measure(prepared: Prepared) {
  const { control } = prepared.installation;
  const paths = operations(prepared);
  let next = 0;
  const ask = async () => {
    const path = paths[next % paths.length] ?? "";
    next += 1;
    await control.call("GET", path);
  };
  const { result, idle } = await withIdle(() => measureLatency(CALLS_PER_SECOND, SECONDS, ask));
  return { ...result, idle };
}

/** Each job resolves once it is under way, with a function that ends it. */
const JOBS: Readonly<Record<string, (prepared: Prepared) => Promise<() => Promise<void>>>> = {
  replay: async ({ installation: { control }, destinationId }) => {
    const { id } = (await control.call("POST", "/v1/replays", { destinationId })) as { id: string };
    return async () => {
      const { replayed } = (await control.call("GET", `/v1/replays/${id}`)) as { replayed: number };
      console.log(`  ${replayed} of ${JOB_SIZE} dead letters were replayed by the end of the calls`);
      await control.call("POST", `/v1/replays/${id}/cancel`).catch(() => undefined);
    };
  },
  sync: async ({ installation: { system }, audienceId }) => {
    const abort = new AbortController();
    const lines = Array.from({ length: JOB_SIZE }, (_, n) => `"user-${n}"\n`);
    const syncing = fetch(`${system.controlUrl}/v1/audiences/${audienceId}/members`, {
      method: "PUT",
      headers: { authorization: `Bearer ${system.adminToken}`, "content-type": "application/x-ndjson" },
      body: Readable.toWeb(Readable.from([Buffer.from(lines.join(""))])) as ReadableStream,
      duplex: "half",
      signal: abort.signal,
    } as RequestInit).then(
      (answer) => console.log(`  the sync was answered ${answer.status} meanwhile`),
      () => console.log("  the sync went on to the end of the calls"),
    );
    return async () => {
      abort.abort();
      await syncing;
    };
  },
  attempts: async ({ installation, destinationId }) => {
    const writing = writeEachSecond(installation, destinationId);
    return () => writing;
  },
};

async function writeEachSecond(installation: Installation, destinationId: string): Promise<void> {
  const log = { kind: "attempts", count: ATTEMPTS_PER_SECOND, destinationIds: [destinationId] } as const;
  const startedMs = performance.now();
  for (let second = 1; second <= SECONDS; second += 1) {
    await writeLog(installation, log);
    await delay(startedMs + second * 1000 - performance.now());
  }
}

/** Throws while the services still work off what a job left. */
async function untilIdle(): Promise<void> {
  const { idle } = await withIdle(() => delay(2000));
  if (idle < ENOUGH_IDLE) throw new Error(`the cores are idle for ${(idle * 100).toFixed(0)} % of the time`);
}

const textOf = ({ p50Ms, p99Ms, idle }: Awaited<ReturnType<typeof measure>>): string =>
  `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, cores ${(idle * 100).toFixed(0)} % idle`;

async function main(): Promise<boolean> {
  const installation = await startInstallation({ longLived: true, brokers: 1 });
  const sink = await startSink();
  const figures = new Figures();
  try {
    const prepared = await prepare(installation, sink);
    await measure(prepared);
    const alone = await measure(prepared);
    console.log(`alone: ${textOf(alone)}`);
    for (const [name, start] of Object.entries(JOBS)) {
      const end = await start(prepared);
      const beside = await measure(prepared);
      await end();
      console.log(`beside ${name}: ${textOf(beside)}`);
      const value = beside.p99Ms / alone.p99Ms;
      const isWithin = value <= MOST_TIMES_ALONE;
      const aim = `at most ${MOST_TIMES_ALONE}`;
      figures.push({ name: `p99 beside ${name}`, value, unit: "times alone", isWithin, beside: aim });
      await eventually(untilIdle, { timeoutMs: 600_000, intervalMs: 1000 });
    }
    return figures.isWithin;
  } finally {
    await installation.close();
    sink.close();
  }
}

if (!(await main())) process.exitCode = 1;
