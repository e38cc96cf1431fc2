/** The context of every command: the API, the printer, and a way to ask. */
import type { Command } from "commander";
import { type Access, findAccess } from "./access.ts";
import { type ApiClient, createApiClient } from "./api-client.ts";
import { parseDuration } from "./duration.ts";
import { CliError, EXIT, type ExitCode } from "./exit-code.ts";
import { createPrinter, type Printer } from "./printer.ts";
import type { Terminal } from "./terminal.ts";

/** Options that every command takes. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly json?: boolean;
  readonly jq?: string;
  readonly quiet?: boolean;
  readonly color?: boolean;
  readonly yes?: boolean;
  readonly timeout?: string;
}

export interface Context {
  readonly terminal: Terminal;
  readonly api: ApiClient;
  /** Where control is, and the token that was found for it. */
  readonly access: Access;
  /** The same API with another token. */
  readonly withToken: (token: string) => ApiClient;
  readonly printer: Printer;
  /** The command's own. */
  readonly version: string;
  /** The bytes of a file as they are read; `-` is standard input. Rejects with CliError. */
  readonly openFile: (path: string) => Promise<AsyncIterable<Uint8Array>>;
  /** Resolves when the question is answered with yes, or `--yes` was given; rejects with CliError otherwise. */
  readonly confirm: (question: string) => Promise<void>;
  /** The same, where `expected`, which is `what`, is to be typed. */
  readonly confirmTyped: (question: string, expected: string, what: string) => Promise<void>;
}

/** A command's action; without a code of its own it ends with 0. */
export type Action = (context: Context) => Promise<ExitCode | undefined>;

/** Runs an action for the command that was typed and keeps the code it ends with. */
export type Perform = (command: Command, action: Action) => Promise<void>;

export interface ContextOptions {
  readonly terminal: Terminal;
  readonly defaultDataDir: string;
  /** The command's own. */
  readonly version: string;
}

export async function createContext(
  options: GlobalOptions,
  { terminal, defaultDataDir, version }: ContextOptions,
): Promise<Context> {
  const timeoutMs = parseDuration(options.timeout ?? "10s");
  if (timeoutMs === undefined || timeoutMs === 0) {
    throw new CliError(EXIT.usage, "--timeout: expected a duration such as 500ms, 10s or 2m");
  }
  const access = await findAccess(options, terminal, defaultDataDir);
  const confirm = async (question: string, isYes: (answer: string) => boolean): Promise<void> => {
    if (options.yes === true) return;
    if (!terminal.canAsk) {
      throw new CliError(EXIT.usage, `${question.replace(/ \[y\/N\] $/, "")} there is no terminal to answer this on`, {
        hint: "add --yes to go on",
      });
    }
    if (!isYes((await terminal.ask(question)).trim())) throw new CliError(EXIT.no, "nothing was done");
  };
  // Few commands need the library: --help is to come at once.
  const filter = options.jq === undefined ? undefined : (await import("./json-filter.ts")).jsonFilter(options.jq);
  const color = options.color !== false && !terminal.env.NO_COLOR;
  return {
    terminal,
    version,
    api: createApiClient({ ...access, timeoutMs, version }),
    access,
    withToken: (token) => createApiClient({ ...access, token, timeoutMs, version }),
    printer: createPrinter({ terminal, json: options.json === true, filter, quiet: options.quiet === true, color }),
    openFile: (path) =>
      terminal.openFile(path).catch((cause: unknown) => {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new CliError(EXIT.usage, `${path} cannot be read: ${reason}`, { cause });
      }),
    confirm: (question) => confirm(`${question} [y/N] `, (answer) => /^y(es)?$/i.test(answer)),
    confirmTyped: (question, expected, what) =>
      confirm(`${question} Type ${what}, ${expected}, to go on: `, (answer) => answer === expected),
  };
}
