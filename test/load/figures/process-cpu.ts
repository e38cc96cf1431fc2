/** CPU time of another process, from Linux's `/proc`. */
import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";

/** Linux counts it in hundredths of a second on every machine in use. */
const TICK_MS = 10;

/** User and system time of the process and all of its threads so far, in ms. */
export function processCpuMs(pid: number): number {
  return cpuMsOf(readFileSync(`/proc/${pid}/stat`, "utf8"));
}

/** The same of those threads of the process whose names match and that live still. */
export function threadsCpuMs(pid: number, isMeant: RegExp): number {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8"))
    .filter((stat) => isMeant.test(stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"))))
    .reduce((sum, stat) => sum + cpuMsOf(stat), 0);
}

function cpuMsOf(stat: string): number {
  // The name, in brackets, may hold spaces; the fields after it do not.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** A process's main thread so far, in ms: `used` on a core, and `waited` while other processes had them. */
export function mainThreadMs(pid: number): { readonly used: number; readonly waited: number } {
  const [used = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ").map(Number);
  return { used: used / 1e6, waited: waited / 1e6 };
}

/**
 * How long the main threads of some processes and of this one wait for a core while `work` is done, in ms a second.
 */
export async function withWaits<Result>(
  pids: readonly number[],
  seconds: number,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly waits: readonly string[] }> {
  const waitsMs = () => [...pids, process.pid].map((pid) => mainThreadMs(pid).waited);
  const before = waitsMs();
  const result = await work();
  return { result, waits: waitsMs().map((ms, index) => ((ms - (before[index] ?? 0)) / seconds).toFixed(0)) };
}

/** The idle share of the machine's cores while `work` is done. */
export async function withIdle<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly idle: number }> {
  const before = coreTimes();
  const result = await work();
  const after = coreTimes();
  return { result, idle: (after.idleMs - before.idleMs) / Math.max(1, after.allMs - before.allMs) };
}

function coreTimes(): { readonly idleMs: number; readonly allMs: number } {
  let [idleMs, allMs] = [0, 0];
  for (const { times } of cpus()) {
    idleMs += times.idle;
    allMs += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { idleMs, allMs };
}

/** Resident memory of the process in bytes. */
export function processRssBytes(pid: number): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match?.[1] ?? 0) * 1024;
}

/** The most resident memory that the process ever had, in bytes. */
export function processPeakBytes(pid: number): number {
  const match = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match?.[1] ?? 0) * 1024;
}
