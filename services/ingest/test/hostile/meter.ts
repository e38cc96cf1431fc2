/**
 * The cost of a form to the gateway.
 *
 * Owns two processes of it, one for CPU as the service runs and one for memory, whose young generation is so small that
 * the size seen at a collection is nearly the size of the live objects.
 * - A form's CPU is the least of several rounds, less the cost of a round of no request.
 * - Ms are ms of the machine that the bounds were set on: they are divided by the cost of a fixed work here, in the
 *   same process, warmed, and read anew beside each measurement (slowness.ts).
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { openSocket, readResponse } from "../raw-request.ts";
import { type Form, hasKnownKey, PLAIN } from "./form.ts";
import type { Cost, MeterQuestion } from "./gateway-process.ts";
import { toRequest } from "./request.ts";
import { createSlowness, type Slowness } from "./slowness.ts";

export interface FormCost {
  /** Of one request, in ms of the reference machine. */
  readonly cpuMs: number;
  readonly peakMb: number;
  /** The bytes sent: head and body, in kilobytes of 1,024. */
  readonly wireKb: number;
  /** The status of its answer; null where the connection was closed instead. */
  readonly status: number | null;
}

export interface Meter {
  /** Measures CPU in so many rounds. */
  measure(form: Form, rounds: number): Promise<FormCost>;
  /** How many times as long as the reference machine this one takes; ms are divided by it. */
  readonly slowness: Pick<Slowness, "value" | "spread">;
  close(): Promise<void>;
}

/**
 * The cost of `calibrate` of gateway-process.ts on the machine that the bounds were set on, with nothing else to do;
 * ms.
 */
const REFERENCE_MS = 2.5;
const OLD_SPACE = "--initial-old-space-size=128";
/** As ingest is started (packages/local-stack/src/services.ts, deploy/Dockerfile). */
const SERVICE_FLAGS = [OLD_SPACE, "--max-semi-space-size=8"];
const MEMORY_FLAGS = [OLD_SPACE, "--max-semi-space-size=1", "--expose-gc", "--no-flush-bytecode"];
/** A form that costs less than this in a round is sent more often in it. */
const ENOUGH_MS = 4;
const MOST_AT_ONCE = 16;
/** The fixed work is compiled in full by then. */
const WARMING_READINGS = 40;
/** Code that was not compiled yet is dear, whatever is sent. */
const WARMING: Form = { ...PLAIN, path: "/v1/batch", calls: 50 };
const WARMING_REQUESTS = 1_500;

export async function startMeter(): Promise<Meter> {
  const cpu = await startProbe(SERVICE_FLAGS);
  const memory = await startProbe(MEMORY_FLAGS);
  const warming = toRequest(WARMING, 0);
  for (const probe of [cpu, memory]) await probe.cost(Array.from({ length: WARMING_REQUESTS }, () => warming));
  let emptyMs = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 20; time++) emptyMs = Math.min(emptyMs, (await cpu.cost([])).cpuMs);
  let serial = 0;
  const slowness = createSlowness(REFERENCE_MS);
  for (let time = 0; time < WARMING_READINGS; time++) slowness.read(await cpu.calibrate());

  /** A key that nobody has is another one each time, since one that comes again is remembered. */
  const requestsOf = (form: Form, count: number, first?: Buffer) =>
    Array.from({ length: count }, () => (first !== undefined && hasKnownKey(form) ? first : toRequest(form, serial++)));

  return {
    measure: async (form, rounds) => {
      slowness.read(await cpu.calibrate());
      const [first = Buffer.alloc(0)] = requestsOf(form, 1);
      const { peakBytes, status } = await memory.cost([first]);
      let least = Math.max(0, (await cpu.cost([first])).cpuMs - emptyMs);
      const atOnce = Math.max(1, Math.min(MOST_AT_ONCE, Math.ceil(ENOUGH_MS / Math.max(least, 0.1))));
      for (let round = 1; round < rounds; round++) {
        const { cpuMs } = await cpu.cost(requestsOf(form, atOnce, first));
        least = Math.min(least, Math.max(0, cpuMs - emptyMs) / atOnce);
      }
      return { cpuMs: least / slowness.value, peakMb: peakBytes / 2 ** 20, wireKb: first.length / 1024, status };
    },
    slowness,
    close: async () => {
      await Promise.all([cpu.close(), memory.close()]);
    },
  };
}

interface Probe {
  cost(requests: readonly Buffer[]): Promise<Cost & { readonly status: number | null }>;
  calibrate(): Promise<number>;
  close(): Promise<void>;
}

async function startProbe(flags: readonly string[]): Promise<Probe> {
  const child = fork(fileURLToPath(new URL("./gateway-process.ts", import.meta.url)), {
    execArgv: [...flags],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const url = String(await answer(child));
  let socket: Socket | undefined;

  const send = async (request: Buffer): Promise<number | null> => {
    if (socket === undefined || socket.destroyed || !socket.writable) {
      socket = await openSocket(url);
      // Its end is noticed where an answer is read.
      socket.on("error", () => {});
    }
    const current = socket;
    current.write(request);
    const response = await readResponse(current);
    // Our own end may be told a moment later than the answer that says so.
    if (response === null || response.headers["connection"] === "close") current.destroy();
    return response?.status ?? null;
  };

  const ask = (question: MeterQuestion): Promise<unknown> => {
    child.send(question);
    return answer(child);
  };

  return {
    cost: async (requests) => {
      await ask("begin");
      let status: number | null = null;
      for (const request of requests) status = await send(request);
      // The return value is the message of the other end of the pipe: see `costSinceBegin`.
      return { ...((await ask("end")) as Cost), status };
    },
    calibrate: async () => Number(await ask("calibrate")),
    close: async () => {
      socket?.destroy();
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}

/** Rejects when the process has ended instead. */
async function answer(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  try {
    return await Promise.race([
      once(child, "message", { signal: ended.signal }).then(([said]) => said),
      once(child, "exit", { signal: ended.signal }).then(([code, signal]) => {
        throw new Error(`the gateway ended by itself (${code ?? signal})`);
      }),
    ]);
  } finally {
    ended.abort();
  }
}
