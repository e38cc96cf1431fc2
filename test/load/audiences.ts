/**
 * npm run bench:audiences -- [--short] [--users=N] [--only=first|second]: a first sync of 1,000,000 users (20,000 in
 * short form, or as many as asked for) and a second one with 1,000 changes. Prints the first sync's rate beside that of
 * a producer which sends records of the same size in the same run, each service's peak of memory, how long live events
 * take meanwhile, beside how long they take through a bare pipeline of kafkajs with as much beside them, and how many
 * identifies the second sync becomes. Needs Linux, whose `/proc` tells a process's memory. Ends with 1 when an aim does
 * not hold.
 */

import { SILENT_LOG } from "@posthaste/core/log";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { createProducer } from "@posthaste/kafka/producer/producer";
import { eventually } from "@posthaste/testkit/eventually";
import { type Installation, startInstallation } from "../e2e/installation.ts";
import { createRoute } from "../e2e/route.ts";
import { startBarePipeline } from "./audiences/bare-pipeline.ts";
import { liveP99 } from "./audiences/live-events.ts";
import { processPeakBytes } from "./figures/process-cpu.ts";
import { verdict } from "./figures/verdict.ts";
import { type Sink, startSink } from "./setup/sink.ts";

const short = process.argv.includes("--short");
const asked = process.argv.find((argument) => argument.startsWith("--users="))?.slice("--users=".length);
const USERS = Number(asked ?? (short ? 20_000 : 1_000_000));
const CHANGES = 1000;
/** What goes out beside live events by default, and in what steps. */
const IDENTIFIES_PER_SECOND = 500;
const STEP_MS = 5;
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

interface Beside {
  readonly aloneMs: number;
  /** While as much goes along as a sync's identifies are. */
  readonly besideMs: number;
}

/** What live events take through processes that do nothing but pass them on. */
async function bareP99({ system }: Installation, sink: Sink): Promise<Beside> {
  const { brokers } = system.stack;
  const pipeline = await startBarePipeline(brokers, `${sink.origin}/o-bare`);
  const route = { url: pipeline.url, writeKey: "none" };
  const connection = connectKafka({ brokers, clientId: "beside", log: SILENT_LOG });
  const producer = await createProducer(connection, { name: "beside", topics: [pipeline.topic] });
  const value = Buffer.alloc(400, "x");
  let [sent, startedMs] = [0, 0];
  const step = () => {
    const due = Math.floor(((performance.now() - startedMs) * IDENTIFIES_PER_SECOND) / 1000);
    const records = Array.from({ length: due - sent }, (_, n) => ({
      topic: pipeline.topic,
      key: `i-${sent + n}`,
      value,
    }));
    sent = due;
    // What the brokers do not take is missed by nobody: the live events say how that went.
    producer.send(records).catch(() => undefined);
  };
  await liveP99(route, sink, LIVE_SECONDS);
  const aloneMs = await liveP99(route, sink, LIVE_SECONDS);
  startedMs = performance.now();
  const timer = setInterval(step, STEP_MS);
  const besideMs = await liveP99(route, sink, LIVE_SECONDS);
  clearInterval(timer);
  await pipeline.stop();
  await producer.close();
  await connection.close();
  return { aloneMs, besideMs };
}

async function createAudience({ control }: Installation, sourceId: string): Promise<string> {
  return ((await control.call("POST", "/v1/audiences", { name: "Everybody", sourceId })) as { id: string }).id;
}

/**
 * Whether live events take no more than so many times as long as alone. What the machine makes of as much through the
 * bare pipeline is told, and judges nothing: it may be the slower one.
 */
function printLatency({ aloneMs, besideMs: told }: Beside, uploadMs: number, bare: Beside): boolean {
  const ratio = told / aloneMs;
  const isQuick = ratio <= LATENCY_AIM;
  const ms = (value: number) => value.toFixed(1);
  console.log(`\n| live events' p99, ms | alone | while it is uploaded | beside ${IDENTIFIES_PER_SECOND} a second |`);
  console.log("|---|---|---|---|");
  console.log(`| the installation | ${ms(aloneMs)} | ${ms(uploadMs)} | ${ms(told)} |`);
  console.log(`| bare pipeline of kafkajs | ${ms(bare.aloneMs)} | | ${ms(bare.besideMs)} |\n`);
  console.log(
    `beside identifies: ${ratio.toFixed(2)} times alone (bare: ${(bare.besideMs / bare.aloneMs).toFixed(2)}), ${(told / bare.besideMs).toFixed(2)} times the bare pipeline's: ${verdict(isQuick)}`,
  );
  const isUploadQuick = uploadMs / aloneMs <= LATENCY_AIM;
  console.log(`during the upload: ${(uploadMs / aloneMs).toFixed(2)} times alone: ${verdict(isUploadQuick)}\n`);
  return isQuick && isUploadQuick;
}

/** The first sync at the default rate, live events beside it. */
async function measureFirstSync(): Promise<boolean> {
  const installation = await startInstallation({ brokers: 1, longLived: true });
  // A process of its own: what it costs is not the senders' and the callers' to bear.
  const sink = await startSink();
  try {
    const { sourceId, writeKey } = await createRoute(installation, { url: sink.origin }, "/o-live");
    const route = { url: installation.system.ingestUrl, writeKey };
    const id = await createAudience(installation, sourceId);
    await liveP99(route, sink, LIVE_SECONDS);
    const aloneMs = await liveP99(route, sink, LIVE_SECONDS);
    const raw = await rawRate(installation);
    const startedMs = performance.now();
    const syncing = sync(installation, id, 0).then((summary) => ({ summary, tookMs: performance.now() - startedMs }));
    const beside = await liveP99(route, sink, LIVE_SECONDS);
    const { summary, tookMs } = await syncing;
    const told = await liveP99(route, sink, LIVE_SECONDS);
    const rate = (USERS * 1000) / tookMs;
    console.log(`\nFirst sync: ${summary.added} users in ${(tookMs / 1000).toFixed(1)} s, ${rate.toFixed(0)} a second`);
    console.log(`a producer alone: ${raw.toFixed(0)} records a second; the sync is ${(rate / raw).toFixed(2)} of that`);
    const bare = await bareP99(installation, sink);
    const isQuick = printLatency({ aloneMs, besideMs: told }, beside, bare);
    console.log("| process | peak of memory, MiB |\n|---|---|");
    const peaks = SERVICES.map((name) => processPeakBytes(installation.system.process(name).pid ?? 0) / 2 ** 20);
    for (const [index, name] of SERVICES.entries()) console.log(`| ${name} | ${peaks[index]?.toFixed(0)} |`);
    const isSmall = Math.max(...peaks) <= MEMORY_AIM_MIB;
    console.log(`\nat most ${MEMORY_AIM_MIB} MiB each: ${verdict(isSmall)}`);
    return isQuick && isSmall;
  } finally {
    await installation.close();
    sink.close();
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
