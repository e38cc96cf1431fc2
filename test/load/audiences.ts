/**
 * npm run bench:audiences -- [--short] [--users=N] [--only=first|second] [--sync-rate=N]: a first sync of 1,000,000
 * users (150,000 in short form, or as many as asked for; at control's default of users a second, or as many as asked
 * for) and a second one with 1,000 changes (of at most 20,000 users in short form). Prints the first sync's rate beside
 * the rate of a producer which sends records of the same size in the same run, each service's peak of memory, how long
 * live events take meanwhile, beside how long they take through a bare pipeline of kafkajs with as much beside them,
 * and how many identifies the second sync becomes; figures with an aim have their verdict. A sync of another audience
 * goes before, told and not judged: a broker that was just started compiles its code for the first time, on the cores
 * that live events need. How idle the cores are stands beside each time. Needs Linux, whose `/proc` tells a process's
 * memory. Ends with 1 when an aim does not hold.
 */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { loadavg } from "node:os";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

import { SILENT_LOG } from "@posthaste/core/log";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { createProducer } from "@posthaste/kafka/producer/producer";
import { eventually } from "@posthaste/testkit/eventually";
import { createTopic, uniqueName } from "@posthaste/testkit/topics";
import { type Installation, startInstallation } from "../e2e/installation.ts";
import { createRoute } from "../e2e/route.ts";
import { startBarePipeline } from "./audiences/bare-pipeline.ts";
import {
  type Beside,
  IDENTIFIES_PER_SECOND,
  type Live,
  printLatency,
  type SyncSeen,
} from "./audiences/latency-table.ts";
import { type LiveRoute, liveP99 } from "./audiences/live-events.ts";
import { Figures } from "./figures/figures.ts";
import { processPeakBytes, withIdle } from "./figures/process-cpu.ts";
import { type Sink, startSink } from "./setup/sink.ts";

const short = process.argv.includes("--short");
const asked = process.argv.find((argument) => argument.startsWith("--users="))?.slice("--users=".length);
/** Users a second of the first sync; the default of control where none is asked for. */
const syncRate = process.argv.find((argument) => argument.startsWith("--sync-rate="))?.slice("--sync-rate=".length);
/** In short form as many as take longer than live events are looked at beside them. */
const USERS = Number(asked ?? (short ? 150_000 : 1_000_000));
const SECOND_USERS = short ? Math.min(USERS, 20_000) : USERS;
const CHANGES = 1000;
/** The interval of records beside live events through the bare pipeline. */
const STEP_MS = 5;
const LIVE_SECONDS = short ? 8 : 20;
/** Of memory, for each service. */
const MEMORY_AIM_MIB = 300;
/** Of the sync that goes before. */
const WARM_USERS = Math.min(USERS, 100_000);
const WAIT = { timeoutMs: 600_000, intervalMs: 250 };
const SERVICES = ["ingest", "router", "delivery", "control"];
/** Bytes of a record of the topic, its key included. */
const RECORD_BYTES = 130;
/** As many as the installation's topics have. */
const PARTITIONS = 6;

interface Summary {
  readonly added: number;
  readonly removed: number;
}

/** A membership as an upload: `changed` of the users are others than at first. */
interface Upload {
  readonly users: number;
  readonly changed: number;
}

function* lines({ users: count, changed }: Upload): Generator<Buffer> {
  const STEP = 1000;
  for (let from = 0; from < count; from += STEP) {
    const users = Array.from({ length: Math.min(STEP, count - from) }, (_, index) => {
      const number = from + index;
      return `"${number < changed ? "new" : "user"}-${number}"\n`;
    });
    yield Buffer.from(users.join(""));
  }
}

async function sync({ system }: Installation, id: string, upload: Upload): Promise<Summary> {
  // Not by `fetch`, which gives up when no answer has begun after five minutes.
  const outgoing = request(`${system.controlUrl}/v1/audiences/${id}/members`, {
    method: "PUT",
    headers: { authorization: `Bearer ${system.adminToken}`, "content-type": "application/x-ndjson" },
  });
  const [[response]] = await Promise.all([
    once(outgoing, "response") as Promise<[IncomingMessage]>,
    pipeline(Readable.from(lines(upload)), outgoing),
  ]);
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(answer);
  return JSON.parse(answer) as Summary;
}

/**
 * Records a second that a producer of this process sends, one call after the other, to a topic that nobody reads.
 */
async function rawRate({ system: { stack } }: Installation): Promise<number> {
  const { brokers } = stack;
  const records = Math.min(USERS, 200_000);
  const connection = connectKafka({ brokers, clientId: "raw", log: SILENT_LOG });
  const topic = await createTopic(uniqueName("raw"), { partitions: PARTITIONS, brokers });
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

/** The time of live events through processes that do nothing but pass them on. */
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
    // A record that the brokers do not take is missed by nobody: the live events say how that went.
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

async function createAudience({ control }: Installation, sourceId: string, name = "Everybody"): Promise<string> {
  return ((await control.call("POST", "/v1/audiences", { name, sourceId })) as { id: string }).id;
}

async function readAudience({ control }: Installation, id: string): Promise<{ identifiesWaiting: number }> {
  return (await control.call("GET", `/v1/audiences/${id}`)) as { identifiesWaiting: number };
}

interface Receiver {
  readonly route: LiveRoute;
  readonly sink: Sink;
}

async function live(route: LiveRoute, sink: Sink): Promise<Live> {
  const { result: p99Ms, idle } = await withIdle(() => liveP99(route, sink, LIVE_SECONDS));
  return { p99Ms, idle };
}

async function besideSync(installation: Installation, id: string, users: number, { route, sink }: Receiver) {
  const startedMs = performance.now();
  let tookMs = Number.POSITIVE_INFINITY;
  const syncing = sync(installation, id, { users, changed: 0 }).then((summary) => {
    tookMs = performance.now() - startedMs;
    return summary;
  });
  const upload = await live(route, sink);
  const { added } = await syncing;
  const identifies = await live(route, sink);
  return { upload, identifies, added, tookMs } satisfies SyncSeen;
}

function printMemory(figures: Figures, { system }: Installation): void {
  for (const name of SERVICES) {
    const value = processPeakBytes(system.process(name).pid ?? 0) / 2 ** 20;
    const isWithin = value <= MEMORY_AIM_MIB;
    figures.push({
      name: `peak of memory, ${name}`,
      value,
      unit: "MiB",
      isWithin,
      beside: `at most ${MEMORY_AIM_MIB}`,
    });
  }
}

/** The first sync at the default rate, live events beside it. */
async function measureFirstSync(figures: Figures): Promise<void> {
  const settings = syncRate === undefined ? {} : { POSTHASTE_AUDIENCE_SYNC_RATE: syncRate };
  const installation = await startInstallation({ brokers: 1, longLived: true, settings });
  // A process of its own: its cost is not the senders' and the callers' to bear.
  const sink = await startSink();
  try {
    const { sourceId, writeKey } = await createRoute(installation, { url: sink.origin }, "/o-live");
    const route = { url: installation.system.ingestUrl, writeKey };
    // Before the sync, whose identifies go on for long.
    const bare = await bareP99(installation, sink);
    const raw = await rawRate(installation);
    await liveP99(route, sink, LIVE_SECONDS);
    const warmId = await createAudience(installation, sourceId, "Before");
    const first = await besideSync(installation, warmId, WARM_USERS, { route, sink });
    // Its waiting records are not told any more.
    await installation.control.call("DELETE", `/v1/audiences/${warmId}`);
    const id = await createAudience(installation, sourceId);
    await eventually(async () => {
      const { identifiesWaiting } = await readAudience(installation, id);
      if (identifiesWaiting > 0) throw new Error(`${identifiesWaiting} of the removed audience are passed over still`);
    }, WAIT);
    const alone = await live(route, sink);
    const seen = await besideSync(installation, id, USERS, { route, sink });
    const { added, tookMs } = seen;
    const rate = (added * 1000) / tookMs;
    const uploadShare = Math.min(1, tookMs / 1000 / LIVE_SECONDS);
    console.log(`\nFirst sync: ${added} users in ${(tookMs / 1000).toFixed(1)} s, ${rate.toFixed(0)} a second`);
    console.log(`a producer alone: ${raw.toFixed(0)} records a second; the sync is ${(rate / raw).toFixed(2)} of that`);
    if (uploadShare < 1) {
      const share = (uploadShare * 100).toFixed(0);
      console.log(`(the sync was over after ${share} % of the time for which live events were looked at beside it)`);
    }
    printLatency(figures, { first, alone, seen, bare });
    printMemory(figures, installation);
  } finally {
    await installation.close();
    sink.close();
  }
}

/** The second sync of an audience whose first was told at full speed. */
async function measureSecondSync(figures: Figures): Promise<void> {
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
      eventually(async () => {
        const { identifiesWaiting } = await readAudience(installation, id);
        const count = await identifies();
        if (identifiesWaiting > 0 || count < atLeast) throw new Error(`${identifiesWaiting} wait, ${count} are told`);
        return count;
      }, WAIT);
    const startedMs = performance.now();
    await sync(installation, id, { users: SECOND_USERS, changed: 0 });
    const first = await settled(SECOND_USERS);
    const tookMs = performance.now() - startedMs;
    await sync(installation, id, { users: SECOND_USERS, changed: CHANGES / 2 });
    const second = (await settled(first + CHANGES)) - first;
    const name = `\nsecond sync of ${SECOND_USERS} users, ${CHANGES} changes`;
    figures.push({ name, value: second, unit: "identifies", isWithin: second === CHANGES, beside: `${CHANGES}` });
    console.log(`The first one's ${first} identifies were sent within ${(tookMs / 1000).toFixed(0)} s of its start.`);
  } finally {
    await installation.close();
  }
}

const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
const figures = new Figures();
console.log(`load of the machine in the last minute, before it begins: ${loadavg()[0]?.toFixed(1)}`);
if (only !== "second") await measureFirstSync(figures);
if (only !== "first") await measureSecondSync(figures);
if (!figures.isWithin) process.exitCode = 1;
