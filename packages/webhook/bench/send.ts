/**
 * Compares an attempt with the bare loop: undici's dispatch and an HMAC-SHA1 of the same 1 KB body, to the same
 * receiver, alternately in one run. Prints microseconds of CPU for each request of both, and their ratio.
 *
 *     node packages/webhook/bench/send.ts [requests a round] [rounds] [bare|ours, to profile one alone]
 */
import { spawn } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Registry } from "prom-client";
import { type Dispatcher, Pool } from "undici";
import { createWebhookSender } from "../src/sender.ts";
import { aDestination } from "../test/destination.ts";

const REQUESTS = Number(process.argv[2] ?? 20_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const CONCURRENCY = 64;
const SECRET = "a shared secret of some length";
const BODY = Buffer.from(JSON.stringify({ version: 1, type: "track", properties: { padding: "x".repeat(970) } }));

type SendOne = (done: () => void) => void;

/** Sends REQUESTS requests, CONCURRENCY at once. Returns the microseconds of CPU and of time that each request took. */
async function measure(sendOne: SendOne): Promise<{ cpuUs: number; wallUs: number }> {
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  await new Promise<void>((resolve) => {
    let started = 0;
    let ended = 0;
    const next = () => {
      ended += 1;
      if (ended === REQUESTS) resolve();
      else if (started < REQUESTS) begin();
    };
    const begin = () => {
      started += 1;
      sendOne(next);
    };
    for (let count = 0; count < CONCURRENCY; count += 1) begin();
  });
  const { user, system } = process.cpuUsage(cpu);
  return { cpuUs: (user + system) / REQUESTS, wallUs: ((performance.now() - startedMs) * 1000) / REQUESTS };
}

function bareLoop(origin: string): { sendOne: SendOne; close: () => Promise<void> } {
  const pool = new Pool(origin, { connections: CONCURRENCY });
  const sendOne: SendOne = (done) => {
    const headers = [
      ...["User-Agent", "Posthaste/1.0", "Content-Type", "application/json"],
      ...["X-Message-Id", randomUUID(), "X-Attempt", "1"],
      ...["X-Signature", createHmac("sha1", SECRET).update(BODY).digest("hex")],
    ];
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData() {},
      onResponseEnd: done,
      onResponseError(_controller, reason) {
        throw reason;
      },
    };
    pool.dispatch({ path: "/", method: "POST", headers, body: BODY }, handler);
  };
  return { sendOne, close: () => pool.close() };
}

function attempts(origin: string): { sendOne: SendOne; close: () => Promise<void> } {
  const sender = createWebhookSender({ allowNetworks: ["127.0.0.0/8"], registry: new Registry() });
  const destination = aDestination({
    secrets: { active: SECRET, next: null, previous: null },
    urls: [{ url: `${origin}/`, headers: {} }],
  });
  const sendOne: SendOne = (done) => {
    sender.attempt(
      { destination, messageId: randomUUID(), body: BODY, attempt: 1 },
      {
        onOutcome: () => undefined,
        onEnd: () => undefined,
        onSettled: ({ settlement }) => {
          if (settlement.outcome !== "delivered") throw new Error(`not delivered: ${JSON.stringify(settlement)}`);
        },
        onFinished: done,
      },
    );
  };
  return { sendOne, close: () => sender.close() };
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const sink = spawn(process.execPath, [fileURLToPath(new URL("./sink.ts", import.meta.url))], {
  stdio: ["pipe", "pipe", "inherit"],
});
const [port] = await once(createInterface({ input: sink.stdout }), "line");
const origin = `http://127.0.0.1:${port}`;
const only = process.argv[4];
const bare = bareLoop(origin);
const ours = attempts(origin);
if (only === undefined) {
  await measure(bare.sendOne);
  await measure(ours.sendOne);
}
const results: { bare: number[]; ours: number[]; ratios: number[] } = { bare: [], ours: [], ratios: [] };
for (let round = 1; round <= ROUNDS; round += 1) {
  const bareCost = only === "ours" ? { cpuUs: Number.NaN, wallUs: Number.NaN } : await measure(bare.sendOne);
  const ourCost = only === "bare" ? { cpuUs: Number.NaN, wallUs: Number.NaN } : await measure(ours.sendOne);
  results.bare.push(bareCost.cpuUs);
  results.ours.push(ourCost.cpuUs);
  results.ratios.push(ourCost.cpuUs / bareCost.cpuUs);
  process.stdout.write(
    `round ${round}: bare ${bareCost.cpuUs.toFixed(1)} us CPU (${bareCost.wallUs.toFixed(1)} us), ` +
      `attempt ${ourCost.cpuUs.toFixed(1)} us CPU (${ourCost.wallUs.toFixed(1)} us)\n`,
  );
}
process.stdout.write(
  `median: bare ${median(results.bare).toFixed(1)} us, attempt ${median(results.ours).toFixed(1)} us, ` +
    `ratio ${median(results.ratios).toFixed(2)}\n`,
);
await Promise.all([bare.close(), ours.close()]);
sink.stdin.end();
