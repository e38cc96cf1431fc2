/**
 * A StackProcess on this machine. It starts a program and inflicts on it the faults of the tests.
 *
 * Owns: the program's process, by way of guard.sh, and its log file.
 * States: down → starting → up ⇄ hung → down. `start` leads from down to starting, and the program's first readiness to
 *     up; `hang` and `resume` lead from up to hung and back; `kill`, `stop` and an end by itself lead to down.
 * GP1  The program ends when this process does, however this process ends (guard.sh).
 * GP2  `pid` is the program's own and not the guard's. It is undefined exactly while the program is down.
 * GP3  `onUnexpectedExit` is called for an end that nobody asked for. An end before the program was ready rejects
 *      `start`.
 * - The program is in a session of its own: a Ctrl-C at the terminal reaches only its parent, which decides the order
 *   of the end.
 */
import { closeSync } from "node:fs";
import { type Guarded, spawnGuarded } from "./guarded-spawn.ts";
import { logTail, openLog } from "./process-log.ts";
import { StackError } from "./stack-error.ts";
import { STOP_DEADLINE_MS, type StackProcess } from "./stack-process.ts";

const READY_POLL_MS = 50;
/** A broker is ready within seconds, or within a minute on a machine that is busy with something else. */
const READY_TIMEOUT_MS = 180_000;

export interface GuardedProcessOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output and error are appended here; a log that grew large is rotated at the start. */
  readonly logFile: string;
  /** Called again and again after the start until it answers true. An error counts as false. */
  readonly isReady: () => Promise<boolean>;
  readonly readyTimeoutMs?: number;
  readonly onUnexpectedExit?: (name: string, reason: string) => void;
}

/** A run of the program, from its start to its end. */
interface Run extends Guarded {
  /** How the run ended; undefined before its end. */
  ending: string | undefined;
  isReady: boolean;
  /** Whether somebody asked for its end. */
  isEndExpected: boolean;
}

export class GuardedProcess implements StackProcess {
  readonly #options: GuardedProcessOptions;
  #run: Run | undefined;

  /** Makes a process that is down. */
  constructor(options: GuardedProcessOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get logFile(): string {
    return this.#options.logFile;
  }

  get pid(): number | undefined {
    return this.#run?.pid;
  }

  async start(): Promise<void> {
    if (this.#run) throw new Error(`${this.name} runs already`);
    const run = await this.#launch();
    this.#run = run;
    run.ended.then((code) => this.#handleEnd(run, `exit code ${code}`)).catch(() => {});
    await this.#untilReady(run);
    run.isReady = true;
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL", 0);
  }

  async stop(deadlineMs: number = STOP_DEADLINE_MS): Promise<void> {
    await this.#end("SIGTERM", deadlineMs);
  }

  async hang(): Promise<void> {
    if (this.#run) signal(this.#run.pid, "SIGSTOP");
  }

  async resume(): Promise<void> {
    if (this.#run) signal(this.#run.pid, "SIGCONT");
  }

  async #launch(): Promise<Run> {
    const { name, command, args, cwd, env, logFile } = this.#options;
    const log = openLog(logFile);
    const spawned = spawnGuarded({ name, command, args, cwd, env, output: [log, log] });
    closeSync(log);
    return { ...(await spawned), ending: undefined, isReady: false, isEndExpected: false };
  }

  /** Notes the end of a run (GP3). */
  #handleEnd(run: Run, reason: string): void {
    run.ending = reason;
    run.guard.stdin?.destroy();
    this.#run = undefined;
    if (run.isReady && !run.isEndExpected) this.#options.onUnexpectedExit?.(this.name, reason);
  }

  async #untilReady(run: Run): Promise<void> {
    const { name, logFile, isReady, readyTimeoutMs = READY_TIMEOUT_MS } = this.#options;
    const deadline = performance.now() + readyTimeoutMs;
    while (!(await isReady().catch(() => false))) {
      if (run.ending !== undefined)
        throw new StackError(`${name} ended before it was ready (${run.ending})${await logTail(logFile)}`);
      if (performance.now() > deadline) {
        run.isEndExpected = true;
        signal(run.pid, "SIGKILL");
        throw new StackError(`${name} was not ready after ${readyTimeoutMs / 1000} s${await logTail(logFile)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
    }
  }

  async #end(first: "SIGKILL" | "SIGTERM", deadlineMs: number): Promise<void> {
    const run = this.#run;
    if (!run) return;
    run.isEndExpected = true;
    signal(run.pid, first);
    if (first === "SIGTERM") signal(run.pid, "SIGCONT");
    const timer = setTimeout(() => signal(run.pid, "SIGKILL"), deadlineMs);
    await run.ended;
    clearTimeout(timer);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process is gone already: its end was wanted, or `ended` tells of it.
  }
}
