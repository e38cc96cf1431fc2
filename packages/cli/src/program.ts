/** The command line: its commands, and its end. */
import { Command, CommanderError } from "commander";
import { addAudiences } from "./commands/audiences.ts";
import { addAudit } from "./commands/audit.ts";
import { addCompletion } from "./commands/completion.ts";
import { addDeadLetters } from "./commands/dead-letters.ts";
import { addDeletions } from "./commands/deletions.ts";
import { addDeliveries } from "./commands/deliveries.ts";
import { addDestinations } from "./commands/destinations.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addEvents } from "./commands/events.ts";
import { addListen } from "./commands/listen.ts";
import { addLogin } from "./commands/login.ts";
import { addOpen } from "./commands/open.ts";
import { addReplays } from "./commands/replays.ts";
import { addSecret } from "./commands/secret.ts";
import { addSend } from "./commands/send.ts";
import { addSources } from "./commands/sources.ts";
import { addStatus } from "./commands/status.ts";
import { addSuppressions } from "./commands/suppressions.ts";
import { addTokens } from "./commands/tokens.ts";
import { addTopics } from "./commands/topics.ts";
import { addTraits } from "./commands/traits.ts";
import { addVersion } from "./commands/version.ts";
import { type ContextOptions, createContext, type GlobalOptions, type Perform } from "./context.ts";
import { examples } from "./examples.ts";
import { CliError, EXIT, type ExitCode } from "./exit-code.ts";
import { replaceNames } from "./names.ts";

export type ProgramOptions = ContextOptions;

/** Runs one command line, without the program's name, and returns the code to exit with. */
export async function run(argv: readonly string[], options: ProgramOptions): Promise<ExitCode> {
  const { terminal } = options;
  let code: ExitCode = EXIT.done;
  let stopped: Command | undefined;
  const perform: Perform = async (command, action) => {
    const context = await createContext(command.optsWithGlobals<GlobalOptions>(), options);
    code = (await action(context)) ?? EXIT.done;
  };
  try {
    const program = createProgram(options, perform);
    // Commander's error does not say which of the commands could not read its words.
    configure(program, (command) =>
      command.exitOverride((error) => {
        stopped = command;
        throw error;
      }),
    );
    program.hook("preAction", (_, command) =>
      replaceNames(command, async () => (await createContext(command.optsWithGlobals<GlobalOptions>(), options)).api),
    );
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    return end(error, { err: terminal.err, helpOf: stopped === undefined ? "posthaste" : fullName(stopped) });
  }
}

/** The commands; `perform` runs the typed one. */
export function createProgram({ terminal, version }: ProgramOptions, perform: Perform): Command {
  const program = new Command("posthaste")
    .description("Webhook delivery for customer data: configure it and look after it")
    .version(version)
    .option("--url <url>", "control's URL (default: the local command's)")
    .option("--profile <name>", "control's URL and token as posthaste login keeps them (else POSTHASTE_PROFILE)")
    .option("--token-file <path>", "file with the token (else POSTHASTE_ADMIN_TOKEN, else the local command's)")
    .option("--json", "JSON on standard output: one object a line for lists, one document otherwise")
    .option("--jq <program>", "of each JSON document what a jq program makes of it; texts as they are")
    .option("--quiet", "no talk on standard error but errors")
    .option("--no-color", "no colours (NO_COLOR does the same)")
    .option("--yes", "answer every question with yes")
    .option("--timeout <duration>", "how long to wait for an answer, such as 500ms, 10s or 2m", "10s")
    .addHelpText("after", examples(["posthaste doctor", "posthaste sources list --json"]))
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 failed, 2 usage, 3 a clear no, 4 not allowed, 5 not reachable, 6 partly done, 130 interrupted",
    );
  addStatus(program, perform);
  addSources(program, perform);
  addDestinations(program, perform);
  addSecret(program, perform);
  addSend(program, perform);
  addListen(program, perform);
  addEvents(program, perform);
  addDeliveries(program, perform);
  addDeadLetters(program, perform);
  addReplays(program, perform);
  addDeletions(program, perform);
  addAudiences(program, perform);
  addTraits(program, perform);
  addSuppressions(program, perform);
  addTokens(program, perform);
  addAudit(program, perform);
  addTopics(program, perform);
  addOpen(program, perform);
  addDoctor(program, perform);
  addLogin(program, perform);
  addVersion(program, perform);
  addCompletion(program, terminal);
  configure(program, (command) =>
    command
      .exitOverride()
      .configureHelp({ showGlobalOptions: true, helpWidth: terminal.isTerminal ? terminal.columns : 120 })
      .configureOutput({ writeOut: terminal.out, writeErr: terminal.err, outputError: () => {} }),
  );
  return program;
}

function configure(command: Command, apply: (command: Command) => void): void {
  apply(command);
  for (const child of command.commands) configure(child, apply);
}

/** `posthaste destinations create`. */
function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

interface End {
  readonly err: (text: string) => void;
  /** The command, as it is typed, whose help names the alternatives. */
  readonly helpOf: string;
}

/** Prints the error that ended the command, in one line and perhaps a line of help, and returns the code. */
function end(error: unknown, { err, helpOf }: End): ExitCode {
  if (error instanceof CliError) {
    err(`posthaste: ${error.message}\n`);
    if (error.hint !== undefined) err(`  ${error.hint}\n`);
    return error.exitCode;
  }
  if (error instanceof CommanderError) {
    // Help and the version are asked for, and end the parsing the same way.
    if (error.exitCode === 0) return EXIT.done;
    // Help that was not asked for was printed instead of an error.
    if (error.code === "commander.help") return EXIT.usage;
    const [line = "", ...more] = error.message.replace(/^error: /, "").split("\n");
    err(`posthaste: ${line}\n`);
    err(`  ${more.length > 0 ? more.join(" ") : `${helpOf} --help shows what there is`}\n`);
    return EXIT.usage;
  }
  err(`posthaste: unexpected: ${error instanceof Error ? error.message : String(error)}\n`);
  return EXIT.failed;
}
