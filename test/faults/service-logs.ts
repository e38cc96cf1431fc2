/** The services' log lines about a fault: pino's lines, one JSON object each. */
import { readFile } from "node:fs/promises";
import type { StackProcess } from "@posthaste/local-stack/stack-process";

export interface LogLine {
  readonly service: string;
  /** Ms since the epoch. */
  readonly atMs: number;
  readonly event: string;
  readonly text: string;
}

/** Events by which a service says that a broker let it down. */
const NOTICES: ReadonlySet<string> = new Set([
  "broker_unresponsive",
  "producer_replaced",
  "log_reader_failed",
  "commit_refused",
]);

/** Lines of the services' logs since `fromMs` (of the epoch), in order of time. */
export async function readServiceLogs(services: readonly StackProcess[], fromMs: number): Promise<readonly LogLine[]> {
  const logs = await Promise.all(
    services.map(async ({ name, logFile }) => {
      const text = await readFile(logFile, "utf8").catch(() => "");
      return text.split("\n").flatMap((line) => parseLine(name, line));
    }),
  );
  return logs
    .flat()
    .filter(({ atMs }) => atMs >= fromMs)
    .sort((one, other) => one.atMs - other.atMs);
}

/** When a service first said that a broker let it down; null when none did. */
export function firstNoticeMs(lines: readonly LogLine[]): number | null {
  return lines.find(({ event }) => NOTICES.has(event))?.atMs ?? null;
}

/** Those that tell of commits and joins, for a round in which commits waited longer than deliveries. */
export function aboutCommits(lines: readonly LogLine[]): readonly string[] {
  return lines
    .filter(({ event }) => event === "commit_refused" || event === "group_joined")
    .map(({ service, text }) => `${service}: ${text}`);
}

/** Partitions that groups took from a member: their records are read again from the last commit (C5). */
export function countRegained(lines: readonly LogLine[]): number {
  return lines
    .filter(({ event }) => event === "group_joined")
    .reduce((sum, { text }) => sum + (JSON.parse(text) as { readonly lost: number }).lost, 0);
}

function parseLine(service: string, text: string): readonly LogLine[] {
  try {
    const { time, event } = JSON.parse(text) as { time: string | number; event: string };
    return [{ service, atMs: new Date(time).getTime(), event, text }];
  } catch {
    // Node's own warnings, and a line that is being written.
    return [];
  }
}
