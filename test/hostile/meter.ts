/**
 * The cost of a stream at a door, and its effect on an honest neighbour.
 *
 * - A wait counts without the time for which the processes that it needs were ready and had no processor: other work of
 *   the machine is no cost of a stream.
 * - The neighbour asks by an open loop: one that waits asks no less often, so a pause counts as often as it is met.
 * - A find that seems to be beyond a bound is measured beside the neighbour alone at that moment: others may load the
 *   machine.
 * - A process that holds much after a stream is started anew before the next, so no stream is taken for another.
 * - The neighbour's p99 alone is the least that was seen, also beside a stream: nothing makes it less than alone. Its
 *   first seconds run cold code, the brokers' too.
 * - A stream that costs next to nothing in its first half second is not played on.
 */
import { setTimeout as pause } from "node:timers/promises";
import { mainThreadMs, processCpuMs, processRssBytes } from "../load/figures/process-cpu.ts";
import type { Cost, Door } from "./door.ts";
import type { Stream } from "./stream.ts";

const ASKED_EVERY_MS = 10;
const PLAYED_MS = 1_500;
const FIRST_MS = 500;
/** Below these costs in its first time a stream is cheap: a part of a processor, megabytes, and times alone. */
const CHEAP = { processor: 0.1, grownMb: 10, slower: 2 } as const;
const ALONE_MS = 1_000;
/** How often the neighbour is measured alone, before a first stream. */
const ALONE_TIMES = 4;
const LOOKED_EVERY_MS = 50;
/** No answer counts as one that took so long. */
const LONGEST_WAIT_MS = 10_000;
/** Below this a p99 says more of the machine than of a stream; ms. */
const LEAST_P99_MS = 4;
const STARTED_ANEW_ABOVE_MB = 120;
/** How many exchanges in a row must be quick for the neighbour to be as alone. */
const QUICK_IN_A_ROW = 10;

export interface Meter {
  measure(stream: Stream, isAgain: boolean): Promise<Cost>;
  /** The neighbour's p99 without a stream, in ms, and the resident memory then, in megabytes. */
  readonly alone: { readonly p99Ms: number; readonly residentMb: number };
}

interface Seen {
  readonly waitsMs: number[];
  asked: number;
  refused: number;
}

interface Alone {
  readonly p99Ms: number;
  readonly residentMb: number;
  readonly processor: number;
}

export async function startMeter(door: Door): Promise<Meter> {
  let alone = await measureAlone(door);
  return {
    get alone() {
      return alone;
    },
    measure: async (stream, isAgain) => {
      if (residentMb(door.pid()) > alone.residentMb + STARTED_ANEW_ABOVE_MB) {
        await door.restart();
        alone = await measureAlone(door, alone.p99Ms);
      }
      const nowMs = isAgain ? Math.max(LEAST_P99_MS, p99((await ask(door, ALONE_MS)).waitsMs)) : alone.p99Ms;
      const cost = await measureStream(door, { stream, isWhole: isAgain }, { ...alone, p99Ms: nowMs });
      const besideMs = Math.max(LEAST_P99_MS, cost.slower * nowMs);
      alone = { ...alone, p99Ms: Math.min(alone.p99Ms, nowMs, besideMs) };
      return cost;
    },
  };
}

/** `knownMs`: the least p99 of an earlier process; a new one that comes to it is measured no longer. */
async function measureAlone(door: Door, knownMs = 0): Promise<Alone> {
  let [least, processor] = [Number.POSITIVE_INFINITY, 0];
  for (let time = 0; time < ALONE_TIMES && least > knownMs; time++) {
    const [before, startedMs] = [orNone(processCpuMs, door.pid()), performance.now()];
    const seen = await ask(door, ALONE_MS);
    if (seen.refused > 0) throw new Error(`${door.name}: the neighbour is refused alone`);
    processor = (orNone(processCpuMs, door.pid()) - before) / (performance.now() - startedMs);
    least = Math.min(least, p99(seen.waitsMs));
  }
  const p99Ms = Math.max(LEAST_P99_MS, knownMs > 0 ? Math.min(knownMs, least) : least);
  return { p99Ms, residentMb: residentMb(door.pid()), processor };
}

interface Measured {
  readonly stream: Stream;
  /** Whether it is played on however cheap it begins. */
  readonly isWhole: boolean;
}

async function measureStream(door: Door, { stream, isWhole }: Measured, alone: Alone) {
  const pid = door.pid();
  const startMb = residentMb(pid);
  let mostMb = startMb;
  const looking = setInterval(() => {
    mostMb = Math.max(mostMb, residentMb(pid));
  }, LOOKED_EVERY_MS);
  const playing = await door.play(stream);
  const [before, startedMs] = [orNone(processCpuMs, pid), performance.now()];
  const processorNow = () => (orNone(processCpuMs, pid) - before) / (performance.now() - startedMs) - alone.processor;
  const seen = await ask(door, PLAYED_MS, ({ waitsMs, asked, refused }) => {
    if (isWhole || performance.now() - startedMs < FIRST_MS || refused > 0) return true;
    const openForMs = (asked - waitsMs.length) * ASKED_EVERY_MS;
    const isQuick = Math.max(openForMs, ...waitsMs) < CHEAP.slower * Math.max(alone.p99Ms, ASKED_EVERY_MS);
    return !isQuick || processorNow() > CHEAP.processor || mostMb - startMb > CHEAP.grownMb;
  });
  const forMs = performance.now() - startedMs;
  const processor = processorNow();
  const { bytes, connections } = await playing.stop();
  const recoveryS = await recovery(door, alone.p99Ms);
  clearInterval(looking);
  return {
    memoryMb: Math.max(0, mostMb - alone.residentMb),
    grownMb: mostMb - startMb,
    slower: p99(seen.waitsMs) / alone.p99Ms,
    refused: seen.refused,
    recoveryS,
    processor: Math.max(0, processor),
    pauseMs: Math.max(...seen.waitsMs),
    played: { bytes: (1000 * bytes) / forMs, connections: (1000 * connections) / forMs },
  };
}

/** Asks for so long, or until `goesOn` is false; resolves when each was answered, or waited for long enough. */
async function ask(door: Door, forMs: number, goesOn: (seen: Seen) => boolean = () => true): Promise<Seen> {
  const seen: Seen = { waitsMs: [], asked: 0, refused: 0 };
  const asked: Promise<void>[] = [];
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs && goesOn(seen)) {
    asked.push(exchange(door, seen));
    await pause(ASKED_EVERY_MS);
  }
  await Promise.all(asked);
  return seen;
}

async function exchange(door: Door, seen: Seen): Promise<void> {
  seen.asked += 1;
  const waited = startWait(door);
  const late = new AbortController();
  const tooLong = pause(LONGEST_WAIT_MS, true, { signal: late.signal, ref: false }).catch(() => true);
  const isTaken = await Promise.race([door.honest().catch(() => false), tooLong]);
  late.abort();
  if (!isTaken) seen.refused += 1;
  seen.waitsMs.push(waited());
}

/**
 * Begins a wait; the result ends it, and returns it in ms. Where several processes are ready at once their times are
 * taken off twice, so the wait is no less than what the door's own process worked in it.
 */
function startWait(door: Door): () => number {
  const others = door.between?.() ?? [];
  const now = () => {
    const [own, at] = [orNone((pid) => mainThreadMs(pid).waited, process.pid), performance.now()];
    const waited = [door.pid(), ...others].map((pid) => orNone((each) => mainThreadMs(each).waited, pid));
    const used = orNone((pid) => mainThreadMs(pid).used, door.pid());
    return { at: at - own, waited: waited.reduce((sum, each) => sum + each, 0), used };
  };
  const begun = now();
  return () => {
    const ended = now();
    const wholeMs = ended.at - begun.at;
    const worked = Math.min(wholeMs, ended.used - begun.used);
    return Math.max(0, wholeMs - (ended.waited - begun.waited), worked);
  };
}

/** Returns for how many seconds the neighbour waits until some exchanges in a row are as quick as alone. */
async function recovery(door: Door, p99Ms: number): Promise<number> {
  const endMs = performance.now() + LONGEST_WAIT_MS;
  let waitedMs = 0;
  for (let quick = 0; quick < QUICK_IN_A_ROW && performance.now() < endMs; ) {
    const seen: Seen = { waitsMs: [], asked: 0, refused: 0 };
    await exchange(door, seen);
    const [waitMs = 0] = seen.waitsMs;
    waitedMs += waitMs;
    quick = seen.refused === 0 && waitMs < 5 * p99Ms ? quick + 1 : 0;
  }
  return waitedMs / 1000;
}

function p99(waitsMs: readonly number[]): number {
  const sorted = waitsMs.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}

function residentMb(pid: number): number {
  return orNone(processRssBytes, pid) / 1024 ** 2;
}

/** A process that a stream ended has no figures. */
function orNone(figure: (pid: number) => number, pid: number): number {
  try {
    return figure(pid);
  } catch {
    return 0;
  }
}
