/** How the command ends; public, since scripts branch on it. */
export const EXIT = {
  done: 0,
  /** Something unexpected. */
  failed: 1,
  /** The command line, or the input that it carries, is wrong. */
  usage: 2,
  /** A clear no: nothing matched, unhealthy, refused in the present state. */
  no: 3,
  notAllowed: 4,
  notReachable: 5,
  /** A part of the request is done and a part is not. */
  partly: 6,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CliErrorOptions {
  /** A command or an action that helps, for a line of its own. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** Ends the command with a code and one line that names the fault. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;

  constructor(exitCode: ExitCode, message: string, { hint, cause }: CliErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
    this.hint = hint;
  }
}
