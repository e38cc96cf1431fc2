/**
 * npm run bench:audiences -- [--short] [--users=N] [--only=first|second]: a first sync of 1,000,000 users (20,000 in
 * short form, or as many as asked for) and a second one with 1,000 changes. Prints the first sync's rate beside that of
 * a producer which sends records of the same size in the same run, each service's peak of memory, how long live events
 * take meanwhile, and how many identifies the second sync becomes. Needs Linux, whose `/proc` tells a process's memory.
 * Ends with 1 when an aim does not hold.
 */

import { SILENT_LOG } from "@posthaste/core/log";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { createProducer } from "@posthaste/kafka/producer/producer";
import { eventually } from "@posthaste/testkit/eventually";
import { startReceiver } from "@posthaste/testkit/receiver";
import { sendOne } from "../e2e/calls.ts";
import { type Installation, startInstallation } from "../e2e/installation.ts";
import { bodyOf, createRoute, type Route } from "../e2e/route.ts";
import { processPeakBytes } from "./process-cpu.ts";
import { quantile } from "./statistics.ts";
import { verdict } from "./verdict.ts";

const short = process.argv.includes("--short");
const asked = process.argv.find((argument) => argument.startsWith("--users="))?.slice("--users=".length);
const USERS = Number(asked ?? (short ? 20_000 : 1_000_000));
const CHANGES = 1000;
const LIVE_PER_SECOND = 200;
const LIVE_SECONDS = short ? 5 : 20;
/** Of memory, for each service. */
const MEMORY_AIM_MIB = 300;
/** How many times as long live events may take at p99. */
const LATENCY_AIM = 2;
const SERVICES = ["ingest", "router", "delivery", "control"];
/** Bytes of a record of the topic, its key included. */
const RECORD_BYTES = 130;

interface Summary {
  readonly added: number;
  readonly removed: number;
}

/** The membership as an upload: `changed` of the users are others than at first. */
function* lines(changed: number): Generator<Buffer> {
  const STEP = 1000;
  for (let from = 0; from < USERS; from += STEP) {
    const users = Array.from({ length: Math.min(STEP, USERS - from) }, (_, index) => {
      const number = from + index;
      return `"${number < changed ? "new" : "user"}-${number}"\n`;
    });
    yield Buffer.from(users.join(""));
  }
}

async function sync({ system }: Installation, id: string, changed: number): Promise<Summary> {
  const response = await fetch(`${system.controlUrl}/v1/audiences/${id}/members`, {
    method: "PUT",
    headers: { authorization: `Bearer ${system.adminToken}`, "content-type": "application/x-ndjson" },
    body: ReadableStream.from(lines(changed)),
    duplex: "half",
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Summary;
}

/** Records a second that a producer of this process sends to a topic of the installation, one call after the other. */
async function rawRate({ system, names }: Installation): Promise<number> {
  const records = Math.min(USERS, 200_000);
  const connection = connectKafka({ brokers: system.stack.brokers, clientId: "raw", log: SILENT_LOG });
  // Nobody reads retry topics of an hour, and these records are no deliveries: rejected calls keep what is none.
  const topic = names.rejectedCalls;
  const producer = await createProducer(connection, { name: "raw", topics: [topic] });
  const value = Buffer.alloc(RECORD_BYTES - 20, "x");
  const startedMs = performance.now();
  for (let from = 0; from < records; from += 2000) {
    await producer.send(Array.from({ length: 2000 }, (_, index) => ({ topic, key: `user-${from + index}`, value })));
  }
  const rate = (records * 1000) / (performance.now() - startedMs);
  await producer.close();
  await connection.close();
  return rate;
}

/** p99 of live events, from before the call to the receiver, in ms. */
async function liveP99(installation: Installation, { writeKey }: Route, sentAtMs: Map<string, number>, took: number[]) {
  const startedMs = performance.now();
  const total = LIVE_PER_SECOND * LIVE_SECONDS;
  const answered: Promise<number>[] = [];
  took.length = 0;
  while (answered.length < total) {
    const due = Math.floor(((performance.now() - startedMs) * LIVE_PER_SECOND) / 1000);
    while (answered.length < Math.min(total, due)) {
      const userId = `live-${sentAtMs.size}`;
      sentAtMs.set(userId, performance.now());
      answered.push(sendOne(installation.system.ingestUrl, writeKey, { type: "track", event: "Live", userId }));
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // A machine that is busy with other things makes ingest refuse some: those are no part of the figure.
  const taken = (await Promise.all(answered)).filter((status) => status === 200).length;
  // One that found its receiver busy is tried again ten seconds later.
  await eventually(
    () => {
      if (took.length < taken) throw new Error(`${took.length} of ${taken} live events arrived`);
    },
    { timeoutMs: 60_000 },
  );
  return quantile(took, 0.99);
}

async function createAudience({ control }: Installation, sourceId: string): Promise<string> {
  return ((await control.call("POST", "/v1/audiences", { name: "Everybody", sourceId })) as { id: string }).id;
}

/** The first sync at the default rate, live events beside it. */
async function measureFirstSync(): Promise<boolean> {
  const installation = await startInstallation({ brokers: 1, longLived: true });
  const sentAtMs = new Map<string, number>();
  const took: number[] = [];
  const receiver = await startReceiver({
    onRequest: (request) => {
      const sentMs = sentAtMs.get(String(bodyOf(request)["userId"]));
      if (sentMs !== undefined) took.push(performance.now() - sentMs);
    },
  });
  try {
    const route = await createRoute(installation, receiver, "/live");
    const id = await createAudience(installation, route.sourceId);
    await liveP99(installation, route, sentAtMs, took);
    const aloneMs = await liveP99(installation, route, sentAtMs, took);
    const raw = await rawRate(installation);
    const startedMs = performance.now();
    const syncing = sync(installation, id, 0).then((summary) => ({ summary, tookMs: performance.now() - startedMs }));
    const beside = await liveP99(installation, route, sentAtMs, took);
    const { summary, tookMs } = await syncing;
    const told = await liveP99(installation, route, sentAtMs, took);
    const rate = (USERS * 1000) / tookMs;
    console.log(`\nFirst sync: ${summary.added} users in ${(tookMs / 1000).toFixed(1)} s, ${rate.toFixed(0)} a second`);
    console.log(`a producer alone: ${raw.toFixed(0)} records a second; the sync is ${(rate / raw).toFixed(2)} of that`);
    const ratio = Math.max(beside, told) / aloneMs;
    const isQuick = ratio <= LATENCY_AIM;
    console.log(
      `live events' p99: ${aloneMs.toFixed(1)} ms alone, ${beside.toFixed(1)} while it is uploaded and written,`,
    );
    console.log(
      `${told.toFixed(1)} while its identifies go out: at most ${ratio.toFixed(2)} times: ${verdict(isQuick)}\n`,
    );
    console.log("| process | peak of memory, MiB |\n|---|---|");
    const peaks = SERVICES.map((name) => processPeakBytes(installation.system.process(name).pid ?? 0) / 2 ** 20);
    for (const [index, name] of SERVICES.entries()) console.log(`| ${name} | ${peaks[index]?.toFixed(0)} |`);
    const isSmall = Math.max(...peaks) <= MEMORY_AIM_MIB;
    console.log(`\nat most ${MEMORY_AIM_MIB} MiB each: ${verdict(isSmall)}`);
    return isQuick && isSmall;
  } finally {
    await installation.close();
    await receiver.close();
  }
}

/** The second sync of an audience whose first was told at full speed. */
async function measureSecondSync(): Promise<boolean> {
  const settings = { POSTHASTE_AUDIENCE_RATE: "1000000" };
  const installation = await startInstallation({ brokers: 1, longLived: true, settings });
  try {
    const { id: sourceId } = await installation.control.createSource("audience");
    const id = await createAudience(installation, sourceId);
    const identifies = async (): Promise<number> => {
      const page = await (await fetch(installation.system.metricsUrls.control)).text();
      return Number(/^posthaste_audience_identifies_total (\d+)$/m.exec(page)?.[1] ?? 0);
    };
    const settled = async (atLeast: number) =>
      eventually(
        async () => {
          const audience = await installation.control.call("GET", `/v1/audiences/${id}`);
          const { identifiesWaiting } = audience as { identifiesWaiting: number };
          const count = await identifies();
          if (identifiesWaiting > 0 || count < atLeast) throw new Error(`${identifiesWaiting} wait, ${count} are told`);
          return count;
        },
        { timeoutMs: 600_000, intervalMs: 250 },
      );
    const startedMs = performance.now();
    await sync(installation, id, 0);
    const first = await settled(USERS);
    const tookMs = performance.now() - startedMs;
    await sync(installation, id, CHANGES / 2);
    const second = (await settled(first + CHANGES)) - first;
    console.log(`\nSecond sync, ${CHANGES} changes: ${second} identifies: ${verdict(second === CHANGES)}`);
    console.log(`The first one's ${first} identifies were sent within ${(tookMs / 1000).toFixed(0)} s of its start.`);
    return second === CHANGES;
  } finally {
    await installation.close();
  }
}

const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
const isFirstWithin = only === "second" || (await measureFirstSync());
const isSecondWithin = only === "first" || (await measureSecondSync());
if (!isFirstWithin || !isSecondWithin) process.exitCode = 1;
