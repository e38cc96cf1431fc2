/** A terminal of a test's own for the command: nobody sits at it, and its output is kept. */
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import type { RunResult } from "@posthaste/testkit/run-node";
import packageJson from "../package.json" with { type: "json" };
import { openOutput } from "../src/output.ts";
import { run } from "../src/program.ts";
import type { Terminal } from "../src/terminal.ts";
import type { RunOptions } from "./fake-control.ts";

export interface TestTerminal {
  readonly terminal: Terminal;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/** Files are those below `cwd`; nothing of this process's environment reaches the command. */
export function createTestTerminal({ cwd = "/nonexistent", stdin = "", env = {} }: RunOptions = {}): TestTerminal {
  let [stdout, stderr] = ["", ""];
  const out = (text: string): void => {
    stdout += text;
  };
  return {
    terminal: {
      env,
      isTerminal: false,
      isTalkTerminal: false,
      columns: 80,
      nowMs: () => Date.parse("2026-11-22T10:43:30.500Z"),
      canAsk: false,
      out,
      err: (text) => {
        stderr += text;
      },
      readFile: async (path) => (path === "-" ? stdin : readFile(resolve(cwd, path), "utf8")),
      openFile: async (path) =>
        path === "-" ? Readable.from([Buffer.from(stdin)]) : (await open(resolve(cwd, path))).createReadStream(),
      openOutput: async (path) =>
        path === "-"
          ? { write: async (bytes) => out(Buffer.from(bytes).toString()), end: async () => undefined }
          : openOutput(resolve(cwd, path)),
      writePrivate: async (path, text) => {
        await mkdir(dirname(resolve(cwd, path)), { recursive: true });
        await writeFile(resolve(cwd, path), text, { mode: 0o600 });
      },
      askSecret: () => Promise.reject(new Error("nobody here")),
      onInterrupt: () => () => {},
      openUrl: () => Promise.reject(new Error("no browser here")),
      ask: () => Promise.reject(new Error("nobody here")),
    },
    stdout: () => stdout,
    stderr: () => stderr,
  };
}

/**
 * Runs the command within this process, as the binary does but for its start, which costs a quarter of a second of CPU:
 * effects that only a whole process shows are for `runBinary`.
 */
export async function runCommand(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { terminal, stdout, stderr } = createTestTerminal({
    ...options,
    env: { POSTHASTE_DATA_DIR: "/nonexistent", ...options.env },
  });
  const code = await run([...args], { terminal, version: packageJson.version, defaultDataDir: "/nonexistent" });
  return { code, stdout: stdout(), stderr: stderr() };
}
