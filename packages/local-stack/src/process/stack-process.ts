/**
 * A broker, the registry or a service under its name, with the faults that a test inflicts on it. A `GuardedProcess`
 * runs on this machine, a `ContainerProcess` in a container.
 */
export interface StackProcess {
  readonly name: string;
  /** The path of the file with the process's output, or the command that shows the output. */
  readonly logFile: string;
  /** The process's id on this machine; undefined exactly while the process is down. */
  readonly pid: number | undefined;
  /**
   * Starts the process and resolves when it is ready. Rejects with a StackError that shows the end of its log when the
   * process ends or stays silent.
   */
  start(): Promise<void>;
  /** Sends SIGKILL and resolves when the process is gone. */
  kill(): Promise<void>;
  /**
   * Sends SIGTERM, and SIGKILL after `deadlineMs`, by default 10 s. Resolves when the process is gone. It also ends a
   * process that hangs.
   */
  stop(deadlineMs?: number): Promise<void>;
  /** Sends SIGSTOP: the process's sockets stay open and nobody answers. */
  hang(): Promise<void>;
  /** Sends SIGCONT. */
  resume(): Promise<void>;
}

/** How long a process may take over a clean end where `stop` names no deadline. */
export const STOP_DEADLINE_MS = 10_000;
