/** wrk, the load generator in C, as a function: it leaves the cores to the measured process. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export interface WrkLoad {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly body: string | Buffer;
  /** Bodies that are sent in turns instead of `body`. */
  readonly bodies?: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Counts answers by status, which costs wrk some µs each. */
  readonly countStatuses?: boolean;
}

export interface WrkResult {
  readonly requests: number;
  readonly perSecond: number;
  /** Answers other than 2xx and 3xx. */
  readonly refused: number;
  /** Requests that got no answer: timeouts and broken connections. */
  readonly unanswered: number;
  /** Answers by status; empty when they were not counted. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** Each of wrk's threads has globals of its own; there is one thread. */
const COUNT_STATUSES = `
statuses = {}
function response(status) statuses[status] = (statuses[status] or 0) + 1 end
local thread
function setup(it) thread = it end
function done()
  for status, count in pairs(thread:get("statuses")) do print("status " .. status .. ": " .. count) end
end`;

/** Undefined when wrk can be run, else the advice about it. */
export function missingWrk(): string | undefined {
  const { error } = spawnSync("wrk", ["--version"]);
  return error === undefined
    ? undefined
    : "wrk is not installed: apt-get install wrk (Debian, Ubuntu), brew install wrk";
}

/** Sends the same POST on every connection, the next one when the last was answered. */
export async function runWrk(load: WrkLoad): Promise<WrkResult> {
  const { url, connections, seconds } = load;
  const folder = mkdtempSync(join(tmpdir(), "wrk-"));
  try {
    const script = join(folder, "post.lua");
    writeFileSync(script, toScript(load));
    const settings = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "20s", "-s", script, url];
    const wrk = spawn("wrk", settings, { stdio: ["ignore", "pipe", "inherit"] });
    const [report, [status]] = await Promise.all([text(wrk.stdout), once(wrk, "close")]);
    if (status !== 0) throw new Error(`wrk ended with ${status}`);
    return parseReport(report);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function toScript({ headers, body, bodies = [], countStatuses = false }: WrkLoad): string {
  const lines = Object.entries(headers).map(([name, value]) => `wrk.headers[ ${lua(name)} ] = ${lua(value)}`);
  return [
    `wrk.method = "POST"`,
    `wrk.body = ${lua(body)}`,
    ...lines,
    inTurns(bodies),
    countStatuses ? COUNT_STATUSES : "",
  ].join("\n");
}

/** Requests are made before the run, since a made one costs wrk nothing. */
function inTurns(bodies: readonly string[]): string {
  if (bodies.length === 0) return "";
  return `
local requests, turn = {}, 0
function init()
  for _, body in ipairs({ ${bodies.map(lua).join(", ")} }) do
    requests[#requests + 1] = wrk.format(nil, nil, nil, body)
  end
end
function request()
  turn = turn % #requests + 1
  return requests[turn]
end`;
}

function parseReport(report: string): WrkResult {
  const number = (form: RegExp) => Number(form.exec(report)?.[1] ?? 0);
  const errors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(report)?.slice(1) ?? [];
  const statuses = [...report.matchAll(/^status (\d+): (\d+)$/gm)];
  return {
    requests: number(/(\d+) requests in/),
    perSecond: number(/Requests\/sec:\s+([\d.]+)/),
    refused: number(/Non-2xx or 3xx responses: (\d+)/),
    unanswered: errors.reduce((sum, count) => sum + Number(count), 0),
    statuses: new Map(statuses.map(([, status, count]) => [Number(status), Number(count)])),
  };
}

/** A Lua string: a text in long brackets, which needs no escapes, and bytes with every one escaped. */
function lua(text: string | Buffer): string {
  if (typeof text === "string") return `[==[${text}]==]`;
  return `"${[...text].map((byte) => `\\${String(byte).padStart(3, "0")}`).join("")}"`;
}
