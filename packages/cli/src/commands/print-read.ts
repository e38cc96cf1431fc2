/** Lists that control reads from a topic. */
import type { ReadList } from "../api-client.ts";
import type { Context } from "../context.ts";
import type { Entry } from "../entries.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { namesBeside } from "../names.ts";

/**
 * Prints such a list. `made` are columns that the API has no field for; `--json` shows the API's fields alone. 3 when
 * nothing matched.
 */
export async function printRead(
  context: Context,
  { entries, complete }: ReadList,
  columns: readonly string[],
  made: Readonly<Record<string, (entry: Entry) => unknown>> = {},
): Promise<ExitCode> {
  const { printer } = context;
  printer.list(entries, columns, { ...(await namesBeside(context, columns)), ...made });
  if (!complete) printer.say("control is still reading the log: entries may be missing");
  if (entries.length > 0) return EXIT.done;
  printer.say("nothing matches");
  return EXIT.no;
}
