/** Removing one or many of a kind, asked about first. */
import type { Context } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";

export interface RemoveOptions {
  /** `source` or `destination`. */
  readonly kind: string;
  /** `/v1/sources`. */
  readonly path: string;
  readonly ids: readonly string[];
  readonly dryRun: boolean;
  /** As the question begins; "Remove" where it is absent. */
  readonly verb?: string;
  /** How much longer than another call each removal may take, in ms. */
  readonly extraMs?: number;
}

/** 0 when all are gone, 3 when none could be removed, 6 when some could. */
export async function removeEach(
  { api, printer, confirm, terminal }: Context,
  options: RemoveOptions,
): Promise<ExitCode> {
  const { kind, path, dryRun, extraMs = 0, verb = "Remove" } = options;
  const ids = [...new Set(options.ids)];
  const what = ids.length === 1 ? `${kind} ${ids[0]}` : `${ids.length} ${kind}s`;
  if (dryRun) {
    const found = await Promise.all(ids.map((id) => api.call("GET", `${path}/${encodeURIComponent(id)}`)));
    printer.list(found, ["id", "name"]);
    printer.say(`would remove ${what}`);
    return EXIT.done;
  }
  await confirm(`${verb} ${what}? It cannot be undone.`);
  let removed = 0;
  let last: CliError | undefined;
  for (const id of ids) {
    try {
      await api.call("DELETE", `${path}/${encodeURIComponent(id)}`, undefined, extraMs);
      removed += 1;
      printer.say(`removed ${kind} ${id}`);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      // Without the API there is no point in going on.
      if (error.exitCode !== EXIT.no) throw error;
      last = error;
      if (ids.length > 1) terminal.err(`${error.message}\n`);
    }
  }
  const [only] = ids;
  if (ids.length === 1 && removed === 1)
    sayNext(printer, [[["audit", "--target", only], "shows what it was, and who removed it"]]);
  if (last === undefined) return EXIT.done;
  if (ids.length === 1) throw last;
  return removed === 0 ? EXIT.no : EXIT.partly;
}
