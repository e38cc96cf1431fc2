/**
 * Names of sources, destinations and audiences: taken wherever an id is, and shown beside ids on a terminal.
 *
 * A text that begins as an id does stands for itself, so that a command with ids asks control nothing more.
 */
import type { Command } from "commander";
import type { ApiClient } from "./api-client.ts";
import { cellText } from "./cell.ts";
import type { Context } from "./context.ts";
import type { Entry } from "./entries.ts";
import { CliError, EXIT } from "./exit-code.ts";

const KINDS = {
  destination: "/v1/destinations",
  source: "/v1/sources",
  audience: "/v1/audiences",
} as const;
type Kind = keyof typeof KINDS;

const ID = /^(?:dst|src|aud)_/;
/** The list of calls without a known key has this in place of a source's id. */
const UNKNOWN = "unknown";

/** The kind of ids in options and arguments of these names, of any command. */
const NAMED: Readonly<Record<string, Kind>> = {
  destinationId: "destination",
  sourceId: "source",
  sourceIds: "source",
};
/** The kind of the arguments `id` and `ids` of the commands of a group. */
const GROUPS: Readonly<Record<string, Kind>> = {
  destinations: "destination",
  sources: "source",
  audiences: "audience",
};

/** Puts ids in the place of the names that were typed. Rejects with CliError for a name of nothing or of several. */
export async function replaceNames(command: Command, api: () => Promise<ApiClient>): Promise<void> {
  for (let each: Command | null = command; each !== null; each = each.parent) {
    for (const [option, value] of Object.entries(each.opts())) {
      const kind = NAMED[option];
      if (kind !== undefined) each.setOptionValue(option, await idsOf(kind, value, api));
    }
  }
  for (const [at, argument] of command.registeredArguments.entries()) {
    const name = argument.name();
    const kind = NAMED[name] ?? (/^ids?$/.test(name) ? GROUPS[command.parent?.name() ?? ""] : undefined);
    if (kind !== undefined) command.processedArgs[at] = await idsOf(kind, command.processedArgs[at], api);
  }
}

/** Of a text or of several. */
async function idsOf(kind: Kind, value: unknown, api: () => Promise<ApiClient>): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((each) => idsOf(kind, each, api)));
  if (typeof value !== "string" || ID.test(value) || (kind === "source" && value === UNKNOWN)) return value;
  return idOf(kind, value, await (await api()).list(KINDS[kind], Number.POSITIVE_INFINITY));
}

/** The id of the thing of this name; large and small letters count only where that decides between several. */
export function idOf(kind: string, name: string, entries: readonly Entry[]): string {
  const lower = name.toLowerCase();
  const inAnyCase = entries.filter((entry) => typeof entry.name === "string" && entry.name.toLowerCase() === lower);
  const same = inAnyCase.filter((entry) => entry.name === name);
  const found = same.length > 0 ? same : inAnyCase;
  const [only] = found;
  if (only !== undefined && found.length === 1) return String(only.id);
  if (only === undefined) {
    throw new CliError(EXIT.no, `there is no ${kind} with the id or the name ${name}`, {
      hint: `posthaste ${kind}s list shows all`,
    });
  }
  const ids = found.map(({ id }) => String(id)).join(", ");
  throw new CliError(EXIT.usage, `${found.length} ${kind}s have the name ${name}`, { hint: `give the id: ${ids}` });
}

type Made = Readonly<Record<string, (entry: Entry) => unknown>>;

/** The columns of ids with the names beside them, on a terminal; none where control does not tell the names. */
export async function namesBeside(
  { api, printer, terminal }: Pick<Context, "api" | "printer" | "terminal">,
  columns: readonly string[],
): Promise<Made> {
  if (printer.isJson || !terminal.isTerminal) return {};
  const made = columns.flatMap((column) => {
    const kind = NAMED[column];
    return kind === undefined ? [] : [{ column, kind }];
  });
  const kinds = [...new Set(made.map(({ kind }) => kind))];
  const lists = await Promise.all(
    kinds.map((kind) => api.list(KINDS[kind], Number.POSITIVE_INFINITY).catch((): readonly Entry[] => [])),
  );
  const names = new Map(lists.flat().map(({ id, name }) => [id, name]));
  const withName = (id: unknown): string =>
    [names.get(id), id]
      .filter((each) => each !== undefined)
      .map(cellText)
      .join(" ");
  return Object.fromEntries(
    made.map(({ column }) => [
      column,
      ({ [column]: value }: Entry) => (Array.isArray(value) ? value.map(withName).join(", ") : withName(value)),
    ]),
  );
}
