/** Runs a few lines as a program of their own, for what only a whole process shows: its end, its output, its environment. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export interface ProgramOptions {
  readonly endpoint: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProgramResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const library = new URL("../../src/index.ts", import.meta.url).href;

/** `lines` find a `client` of `endpoint`, and may await. */
export async function runProgram(lines: string, { endpoint, env = {} }: ProgramOptions): Promise<ProgramResult> {
  const source = `import { Analytics } from ${JSON.stringify(library)};
    const client = new Analytics({ writeKey: "KEY", endpoint: ${JSON.stringify(endpoint)}, onError: (error) => console.error(error.code) });
    ${lines}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    // Nothing of the test's own environment, which may hold a DEBUG.
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [[code], stdout, stderr] = await Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}
