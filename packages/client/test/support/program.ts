/**
 * Runs a few lines as a program of their own, for effects that only a whole process shows: its end, its output, its
 * environment.
 */
import { type RunResult, runNode } from "@posthaste/testkit/run-node";

export interface ProgramOptions {
  readonly endpoint: string;
  readonly env?: Readonly<Record<string, string>>;
}

const library = new URL("../../src/index.ts", import.meta.url).href;

/** `lines` find a `client` of `endpoint`, and may await. */
export function runProgram(lines: string, { endpoint, env = {} }: ProgramOptions): Promise<RunResult> {
  const source = `import { Analytics } from ${JSON.stringify(library)};
    const client = new Analytics({ writeKey: "KEY", endpoint: ${JSON.stringify(endpoint)}, onError: (error) => console.error(error.code) });
    ${lines}`;
  // Nothing of the test's own environment, which may hold a DEBUG.
  return runNode(["--input-type=module", "--eval", source], { env });
}
