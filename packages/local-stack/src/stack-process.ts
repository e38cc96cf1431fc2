/**
 * A broker, the registry or a service under its name, and what a test does to it. A `GuardedProcess` is a process of
 * this machine, a `ContainerProcess` one in a container.
 */
export interface StackProcess {
  readonly name: string;
  /** Where its output goes: a file's path, or the command that shows it. */
  readonly logFile: string;
  /** Its process id on this machine; undefined exactly while it is down. */
  readonly pid: number | undefined;
  /** Answers when it is ready. Rejects with StackError when it ends or stays silent, with the end of its log. */
  start(): Promise<void>;
  /** SIGKILL; answers when it is gone. */
  kill(): Promise<void>;
  /**
   * SIGTERM, and SIGKILL after `deadlineMs`, by default 10 s; answers when it is gone. Also ends a process that hangs.
   */
  stop(deadlineMs?: number): Promise<void>;
  /** SIGSTOP: its sockets stay open and nobody answers. */
  hang(): Promise<void>;
  /** SIGCONT. */
  resume(): Promise<void>;
}

/** How long a process may take over a clean end where `stop` names no deadline. */
export const STOP_DEADLINE_MS = 10_000;
