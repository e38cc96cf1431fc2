/**
 * Starts a program under guard.sh, so that it ends when this process does, however this one ends, a SIGKILL included.
 *
 * - The program is in a session of its own: a Ctrl-C at the terminal reaches this process only, which decides the order
 *   of the end.
 * - The process id is the program's own, not the guard's.
 */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { StackError } from "./stack-error.ts";

const guardScript = fileURLToPath(new URL("./guard.sh", import.meta.url));

/** How long the program may take over a clean end once this process is gone. */
const ORPHAN_GRACE_SECONDS = 5;

export interface GuardedSpawnOptions {
  /** The program's name in errors. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where standard output and standard error go: descriptors, or `pipe` to read them from `guard`. */
  readonly output: readonly [stdout: number | "pipe" | "ignore", stderr: number | "pipe" | "ignore"];
}

export interface Guarded {
  /** The guard: it exits with the program's code, and ends the program when its standard input closes. */
  readonly guard: ChildProcess;
  /** The program's process id. */
  readonly pid: number;
  /** Resolves at the program's end with its exit code, or with the signal that ended the guard. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Resolves once the program runs. Rejects with StackError when the guard could not start it. */
export async function spawnGuarded(options: GuardedSpawnOptions): Promise<Guarded> {
  const { name, command, args, cwd, env, output } = options;
  const stdio: StdioOptions = ["pipe", ...output, "pipe"];
  const guard = spawn("sh", [guardScript, String(ORPHAN_GRACE_SECONDS), command, ...args], {
    cwd,
    env: { ...env },
    stdio,
    detached: true,
  });
  // This listens before it awaits anything, so that it does not miss the end of a program that ends at once.
  const ended = once(guard, "exit").then(([code, signal]) => code ?? signal);
  return { guard, pid: await readPid(guard, name), ended };
}

/** The guard writes the program's process id to descriptor 3, and nothing else. */
async function readPid(guard: ChildProcess, name: string): Promise<number> {
  const words = guard.stdio[3] as Readable;
  let text = "";
  for await (const chunk of words) text += String(chunk);
  const pid = Number(text);
  if (!Number.isInteger(pid) || pid <= 0) throw new StackError(`${name} could not be started`);
  return pid;
}
