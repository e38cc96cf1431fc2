/** `posthaste version`: the releases of the command and of control. */
import type { Command } from "commander";
import { cellText } from "../cell.ts";
import type { Context, Perform } from "../context.ts";
import { isEntry } from "../entries.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT } from "../exit-code.ts";

export function addVersion(program: Command, perform: Perform): void {
  program
    .command("version")
    .description("the release of this command and that of control, which needs no token")
    .action((_: object, command: Command) =>
      perform(command, async (context) => {
        const { api, printer, version } = context;
        const control = { url: api.url, version: await controlVersion(context) };
        if (printer.isJson) printer.document({ version, control });
        else {
          const words = control.version === null ? "not reachable" : cellText(control.version);
          printer.lines([`posthaste ${version}`, `control ${words} at ${control.url}`]);
        }
        if (control.version !== null && control.version !== version)
          printer.say("the two are of different releases: a command or an option of the newer one may be refused");
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples(["posthaste version", "posthaste version --json"]));
}

/** Null where no control answers. */
async function controlVersion({ api }: Pick<Context, "api">): Promise<string | null> {
  try {
    const { body } = await api.probe("/openapi.json");
    const info = isEntry(body) ? body.info : undefined;
    return isEntry(info) && typeof info.version === "string" ? info.version : null;
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notReachable) return null;
    throw error;
  }
}
