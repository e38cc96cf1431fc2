/** wrk, the load generator in C, as a function: it leaves the cores to what is measured. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface WrkLoad {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface WrkResult {
  readonly requests: number;
  readonly perSecond: number;
  /** Answers other than 2xx and 3xx. */
  readonly refused: number;
  /** Requests that got no answer: timeouts and broken connections. */
  readonly unanswered: number;
}

/** Undefined when wrk can be run, else what to do about it. */
export function missingWrk(): string | undefined {
  const { error } = spawnSync("wrk", ["--version"]);
  return error === undefined
    ? undefined
    : "wrk is not installed: apt-get install wrk (Debian, Ubuntu), brew install wrk";
}

/** Sends the same POST on every connection, the next one when the last was answered. Blocks until it is done. */
export function runWrk({ url, connections, seconds, body, headers }: WrkLoad): WrkResult {
  const folder = mkdtempSync(join(tmpdir(), "wrk-"));
  try {
    const script = join(folder, "post.lua");
    const lines = Object.entries(headers).map(([name, value]) => `wrk.headers[ ${lua(name)} ] = ${lua(value)}`);
    writeFileSync(script, [`wrk.method = "POST"`, `wrk.body = ${lua(body)}`, ...lines].join("\n"));
    const { stdout, status, stderr } = spawnSync(
      "wrk",
      ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "20s", "-s", script, url],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`wrk ended with ${status}: ${stderr}`);
    return parseReport(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function parseReport(report: string): WrkResult {
  const number = (form: RegExp) => Number(form.exec(report)?.[1] ?? 0);
  const errors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(report)?.slice(1) ?? [];
  return {
    requests: number(/(\d+) requests in/),
    perSecond: number(/Requests\/sec:\s+([\d.]+)/),
    refused: number(/Non-2xx or 3xx responses: (\d+)/),
    unanswered: errors.reduce((sum, count) => sum + Number(count), 0),
  };
}

/** A Lua string in long brackets, which needs no escapes. */
function lua(text: string): string {
  return `[==[${text}]==]`;
}
