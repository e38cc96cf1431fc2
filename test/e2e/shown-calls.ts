/** The calls that README.md and docs/ingest.md show, run by a shell and curl against a stack of a test's own. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { readSnippets } from "../checks/snippets.ts";

const execute = promisify(execFile);

export interface ShownCallOptions {
  /** URLs of ingest and control, in place of the local command's. */
  readonly ingest: string;
  readonly control: string;
  readonly dataDir: string;
  readonly writeKey: string;
  readonly sourceId: string;
}

export interface ShownCall {
  /** The block as the page has it. */
  readonly shown: string;
  /** The answer that the page shows under it, as JSON; null where it shows none. */
  readonly expected: unknown;
  /** The answers, one for each call. */
  readonly answers: readonly unknown[];
}

/** Runs every shell block of the page that calls something, in their order. Rejects where curl or the shell fails. */
export async function runShownCalls(page: string, options: ShownCallOptions): Promise<readonly ShownCall[]> {
  const blocks = readSnippets().filter((snippet) => snippet.page === page);
  const calls: ShownCall[] = [];
  for (const [index, { language, code }] of blocks.entries()) {
    if (language !== "sh" || !code.includes("curl ")) continue;
    const under = blocks[index + 1];
    const expected: unknown = under?.language === "json" ? JSON.parse(under.code) : null;
    calls.push({ shown: code, expected, answers: await answersOf(code, options) });
  }
  return calls;
}

async function answersOf(code: string, options: ShownCallOptions): Promise<readonly unknown[]> {
  const { ingest, control, dataDir, writeKey, sourceId } = options;
  const script = code
    .replaceAll("http://127.0.0.1:8080", ingest)
    .replaceAll("http://127.0.0.1:8090", control)
    .replaceAll(".posthaste/", `${dataDir}/`)
    .replaceAll(/-u WRITE_KEY:/g, `-u ${writeKey}:`)
    .replaceAll('"SOURCE_ID"', `"${sourceId}"`);
  const eachOnItsLine = 'curl() { command curl -sS -w "\\n" "$@"; }';
  const env = { PATH: process.env["PATH"], WRITE_KEY: writeKey };
  const { stdout } = await execute("bash", ["--norc", "-euc", `${eachOnItsLine}\n${script}`], { env });
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}
