/**
 * Runs a program under this process's Node, for what only a whole process shows: its end, its output, its environment.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export interface RunNodeOptions {
  /** All that the program sees of an environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string | undefined;
  readonly stdin?: string | undefined;
  /** Called with the running process's id. */
  readonly during?: ((pid: number) => Promise<void>) | undefined;
}

export interface RunResult {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Resolves when the program has ended, whatever its exit code. `args` are Node's own: flags, the file, its arguments.
 */
export async function runNode(
  args: readonly string[],
  { env, cwd, stdin = "", during }: RunNodeOptions,
): Promise<RunResult> {
  const child = spawn(process.execPath, [...args], { env: { ...env }, cwd });
  // A program may end before it reads anything.
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);
  const [[code], stdout, stderr] = await Promise.all([
    once(child, "exit"),
    text(child.stdout),
    text(child.stderr),
    child.pid === undefined ? undefined : during?.(child.pid),
  ]);
  return { code, stdout, stderr };
}
