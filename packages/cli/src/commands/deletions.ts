/** `posthaste deletions`: tell receivers to delete users, and see how far that is. */
import type { Command } from "commander";
import type { Context, Perform } from "../context.ts";
import { counted } from "../counted.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";
import { collect, given, wholeNumber } from "../options.ts";
import { printRead } from "./print-read.ts";
import { addList } from "./stored-commands.ts";

const PATH = "/v1/deletions";
/** As many users as the API takes in one request. */
const USERS_A_REQUEST = 5000;
/** Control answers a request that suppresses when nobody sends any more who does not know of it. */
const SUPPRESSING_MS = 20_000;
const COLUMNS = ["id", "state", "users", "notifications", "suppress", "createdAt", "sentAt"];
const NOTIFICATION_COLUMNS = ["userId", "destinationId", "state", "attempts", "lastAttemptAt"];
const DEFAULT_LIMIT = 50;

interface CreateOptions {
  readonly userId?: string;
  readonly file?: string;
  readonly sourceIds?: readonly string[];
  readonly id?: string;
  readonly suppress?: boolean;
}

export function addDeletions(program: Command, perform: Perform): void {
  const deletions = program.command("deletions").description("tell receivers to delete users, and see how far that is");

  deletions
    .command("create")
    .description("send a delete event for every source that has a destination enabled; ends with 3 when none has")
    .option("--user-id <id>", "whose data is to be deleted")
    .option("--file <path>", "instead: a file with a user a line, as an id or as JSON; - reads standard input")
    .option("--source-ids <ids>", "only these sources, divided by commas", collect)
    .option("--id <id>", "an id of your own: the same request under the same id is carried out once")
    .option("--suppress", "deliver no event of the users any more, also none that waits")
    .action((options: CreateOptions, command: Command) => perform(command, (context) => create(context, options)))
    .addHelpText(
      "after",
      examples([
        "posthaste deletions create --user-id user-7",
        "posthaste deletions create --user-id user-7 --source-ids src_4k2v8m1n0p3q5r7s",
        "posthaste deletions create --file users.txt --id ticket-4711 --suppress",
      ]),
    );

  addList({
    ...{ group: deletions, perform, path: PATH, columns: COLUMNS, limit: DEFAULT_LIMIT },
    description: "list deletion requests, newest first",
    examples: ["posthaste deletions list", "posthaste deletions list --limit 1000 --json"],
  });

  deletions
    .command("get <id>")
    .description("how far a request is: its notifications by state")
    .option("--notifications", "list each notification instead")
    .option("--limit <n>", "with --notifications: at most this many", wholeNumber, DEFAULT_LIMIT)
    .action((id: string, options: { readonly notifications?: boolean; readonly limit: number }, command: Command) =>
      perform(command, async (context) => {
        const path = `${PATH}/${encodeURIComponent(id)}`;
        if (options.notifications !== true) {
          context.printer.document(await context.api.call("GET", path));
          return EXIT.done;
        }
        const read = await context.api.listRead(`${path}/notifications`, options.limit, {});
        return printRead(context, read, NOTIFICATION_COLUMNS);
      }),
    )
    .addHelpText(
      "after",
      examples(["posthaste deletions get ticket-4711", "posthaste deletions get ticket-4711 --notifications --json"]),
    );
}

/**
 * 0 when somebody is notified or suppressed, 3 when nobody is. Many users are several requests, one after the other.
 */
async function create(context: Context, options: CreateOptions): Promise<ExitCode> {
  const { api, printer, confirm } = context;
  const { sourceIds, suppress, id } = options;
  const users = await usersOf(context, options);
  const parts = Array.from({ length: Math.ceil(users.length / USERS_A_REQUEST) }, (_, part) =>
    users.slice(part * USERS_A_REQUEST, (part + 1) * USERS_A_REQUEST),
  );
  await confirm(`Tell receivers to delete ${counted(users.length, "user")}? It cannot be undone.`);
  const extraMs = suppress === true ? SUPPRESSING_MS : 0;
  const answers = [];
  let done = 0;
  for (const [part, userIds] of parts.entries()) {
    const whom = options.userId === undefined ? { userIds } : { userId: options.userId };
    const partId = id === undefined || parts.length === 1 ? id : `${id}-${part + 1}`;
    answers.push(await api.call("POST", PATH, given({ ...whom, sourceIds, suppress, id: partId }), extraMs));
    done += userIds.length;
    if (parts.length > 1) printer.say(`${done} of ${users.length} users`);
  }
  const [only] = answers;
  if (answers.length === 1 && only !== undefined) printer.document(only);
  else printer.list(answers, ["id", "notifications"]);
  if (suppress === true || answers.some(({ notifications }) => notifications !== 0)) {
    if (answers.length === 1) sayNext(printer, [[["deletions", "get", only?.id], "shows how far it is"]]);
    return EXIT.done;
  }
  printer.say("nobody is notified: no source named has an enabled destination");
  return EXIT.no;
}

async function usersOf({ terminal }: Context, { userId, file }: CreateOptions): Promise<readonly string[]> {
  if ((userId === undefined) === (file === undefined)) {
    throw new CliError(EXIT.usage, "give either --user-id or --file");
  }
  if (file === undefined) return [userId ?? ""];
  const text = await terminal.readFile(file).catch((cause: unknown) => {
    throw new CliError(EXIT.usage, `--file: ${file} cannot be read`, { cause });
  });
  const lines = text.split(/\r?\n/).map((line, index) => userOf(line, index + 1));
  const users = [...new Set(lines.filter((userId) => userId !== ""))];
  if (users.length === 0) throw new CliError(EXIT.usage, `--file: ${file} has no user id`);
  return users;
}

/** A line `user-7`, `"user-7"` or `{"userId": "user-7"}`, as `audiences sync` takes it. Throws CliError. */
function userOf(line: string, lineNumber: number): string {
  if (!/^\s*["{]/.test(line)) return line;
  try {
    const value: unknown = JSON.parse(line);
    const userId = typeof value === "object" && value !== null && "userId" in value ? value.userId : value;
    if (typeof userId === "string" || Number.isSafeInteger(userId)) return String(userId);
  } catch {
    // The parser's message would quote the line.
  }
  throw new CliError(EXIT.usage, `--file: line ${lineNumber}: expected a user id, or {"userId": "user-7"}`);
}
