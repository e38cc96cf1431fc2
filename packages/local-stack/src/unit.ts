/**
 * One process of the stack under a name: a broker, the registry, a service. Starts it, and does to it what a fault test does.
 *
 * Owns: the process, by way of guard.sh, and its log file.
 * States: down → starting → up ⇄ hung → down.
 * U1  The process ends when this one does, however this one ends (guard.sh).
 * U2  `pid` is the process's own, not the guard's, and is undefined exactly while it is down.
 * U3  An end that nobody asked for is told to `onUnexpectedExit`; one before it was ready rejects `start`.
 * U4  It is in a session of its own: a Ctrl-C at the terminal reaches the parent only, which decides the order of the end.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync } from "node:fs";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { StackError } from "./stack-error.ts";
import { logTail, openLog } from "./unit-log.ts";

const guard = fileURLToPath(new URL("./guard.sh", import.meta.url));

/** How long an orphan may take over a clean end. */
const ORPHAN_GRACE_SECONDS = 5;
const READY_POLL_MS = 50;
/** A broker is ready within seconds, or within a minute on a machine that is busy with something else. */
const READY_TIMEOUT_MS = 180_000;

export interface UnitOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output and error are appended here; one that grew large is put aside at the start. */
  readonly logFile: string;
  /** Asked again and again after the start, until true. A throw counts as false. */
  readonly isReady: () => Promise<boolean>;
  readonly readyTimeoutMs?: number;
  readonly onUnexpectedExit?: (name: string, reason: string) => void;
}

export interface Unit {
  readonly name: string;
  readonly logFile: string;
  readonly pid: number | undefined;
  /** Answers when it is ready. Rejects with StackError when it ends or stays silent, with the end of its log. */
  readonly start: () => Promise<void>;
  /** SIGKILL; answers when it is gone. */
  readonly kill: () => Promise<void>;
  /** SIGTERM, and SIGKILL after `deadlineMs`; answers when it is gone. Also ends a hung one. */
  readonly stop: (deadlineMs?: number) => Promise<void>;
  /** SIGSTOP: its sockets stay open and nobody answers. */
  readonly hang: () => Promise<void>;
  /** SIGCONT. */
  readonly resume: () => Promise<void>;
}

interface Running {
  readonly guard: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<string>;
  expected: boolean;
}

/** A unit that is down. */
export function createUnit(options: UnitOptions): Unit {
  const { name, logFile, isReady, readyTimeoutMs = READY_TIMEOUT_MS, onUnexpectedExit } = options;
  let running: Running | undefined;

  const launch = async (): Promise<Running> => {
    const log = openLog(logFile);
    const child = spawn("sh", [guard, String(ORPHAN_GRACE_SECONDS), options.command, ...options.args], {
      cwd: options.cwd,
      env: { ...options.env },
      stdio: ["pipe", log, log, "pipe"],
      detached: true,
    });
    closeSync(log);
    const ended = once(child, "exit").then(([code, signal]) => `exit code ${String(code ?? signal)}`);
    const pid = await readPid(child, name);
    return { guard: child, pid, ended, expected: false };
  };

  const start = async (): Promise<void> => {
    if (running) throw new Error(`${name} runs already`);
    const mine = await launch();
    running = mine;
    let ready = false;
    let ending: string | undefined;
    mine.ended
      .then((reason) => {
        ending = reason;
        mine.guard.stdin?.destroy();
        running = undefined;
        if (ready && !mine.expected) onUnexpectedExit?.(name, reason);
      })
      .catch(() => {});
    const deadline = performance.now() + readyTimeoutMs;
    while (!(await isReady().catch(() => false))) {
      if (ending !== undefined)
        throw new StackError(`${name} ended before it was ready (${ending})${await logTail(logFile)}`);
      if (performance.now() > deadline) {
        mine.expected = true;
        signal(mine.pid, "SIGKILL");
        throw new StackError(`${name} was not ready after ${readyTimeoutMs / 1000} s${await logTail(logFile)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
    }
    ready = true;
  };

  const end = async (first: "SIGKILL" | "SIGTERM", deadlineMs: number): Promise<void> => {
    const mine = running;
    if (!mine) return;
    mine.expected = true;
    signal(mine.pid, first);
    if (first === "SIGTERM") signal(mine.pid, "SIGCONT");
    const timer = setTimeout(() => signal(mine.pid, "SIGKILL"), deadlineMs);
    await mine.ended;
    clearTimeout(timer);
  };

  return {
    name,
    logFile,
    get pid() {
      return running?.pid;
    },
    start,
    kill: () => end("SIGKILL", 0),
    stop: (deadlineMs = 10_000) => end("SIGTERM", deadlineMs),
    hang: async () => {
      if (running) signal(running.pid, "SIGSTOP");
    },
    resume: async () => {
      if (running) signal(running.pid, "SIGCONT");
    },
  };
}

/** The guard's first and only word on descriptor 3. */
async function readPid(child: ChildProcess, name: string): Promise<number> {
  const words = child.stdio[3] as Readable;
  let text = "";
  for await (const chunk of words) text += String(chunk);
  const pid = Number(text);
  if (!Number.isInteger(pid) || pid <= 0) throw new StackError(`${name} could not be started`);
  return pid;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already: its end is what was wanted, or is told by `ended`.
  }
}
