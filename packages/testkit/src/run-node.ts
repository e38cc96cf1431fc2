/**
 * Runs a program under this process's Node, for effects that only a whole process shows: its end, its output, its
 * environment.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";

export interface RunNodeOptions {
  /** The program's whole environment: nothing is inherited but the place of Node's compile cache. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string | undefined;
  readonly stdin?: string | undefined;
  /** Called with the running process's id, and a function that returns its output so far. */
  readonly during?: ((pid: number, said: () => ProgramOutput) => Promise<void>) | undefined;
}

export interface ProgramOutput {
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunResult extends ProgramOutput {
  /** Null when a signal ended it. */
  readonly code: number | null;
}

/**
 * Resolves when the program has ended, whatever its exit code. `args` are Node's own: flags, the file, its arguments.
 */
export async function runNode(
  args: readonly string[],
  { env, cwd, stdin = "", during }: RunNodeOptions,
): Promise<RunResult> {
  const child = spawn(process.execPath, [...args], { env: wholeEnvironment(env), cwd });
  // A program may end before it reads anything.
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);
  const said = { stdout: "", stderr: "" };
  const keep = async (name: keyof ProgramOutput): Promise<void> => {
    for await (const text of child[name].setEncoding("utf8")) said[name] += text;
  };
  const [[code]] = await Promise.all([
    once(child, "exit"),
    keep("stdout"),
    keep("stderr"),
    child.pid === undefined ? undefined : during?.(child.pid, () => ({ ...said })),
  ]);
  return { code, ...said };
}

/** A program's whole environment: the given variables, and the place of Node's compile cache. */
export function wholeEnvironment(env: RunNodeOptions["env"]): RunNodeOptions["env"] {
  const { NODE_COMPILE_CACHE } = process.env;
  return { ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...env };
}
