/** A destination's settings in a file, as the API has them. */
import { readInput } from "../access.ts";
import type { Context } from "../context.ts";
import type { Entry } from "../entries.ts";
import { CliError, EXIT } from "../exit-code.ts";

/** Rejects with CliError for a value that is no JSON object. */
export async function readSettings(terminal: Context["terminal"], path: string): Promise<Entry> {
  try {
    const settings: unknown = JSON.parse(await readInput(terminal, path, "--settings-file"));
    if (typeof settings === "object" && settings !== null && !Array.isArray(settings)) return settings as Entry;
  } catch (error) {
    // Otherwise said below; the parser's own words would quote the file, which may hold a secret.
    if (error instanceof CliError) throw error;
  }
  throw new CliError(EXIT.usage, "--settings-file: expected a JSON object, as the API's settings");
}
