/** `posthaste open`: the console in a browser, signed in as the token that the command uses. */
import type { Command } from "commander";
import type { Context, Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";

export function addOpen(program: Command, perform: Perform): void {
  program
    .command("open [page]")
    .description("make a sign-in link and open it; without a terminal print it")
    .action((page: string | undefined, _: object, command: Command) =>
      perform(command, (context) => openPage(context, page ?? "")),
    )
    .addHelpText("after", examples(["posthaste open", "posthaste open destinations"]));
}

export const WEB = ["--web", "open its page of the console instead; without a terminal print the link"] as const;

/** Opens a page of the console by a sign-in link, as `--web` does. Without a terminal the link is printed alone. */
export async function openPage({ api, printer, terminal }: Context, page: string): Promise<ExitCode> {
  const { link, expiresAt } = await api.call("POST", "/v1/session/link");
  const url = pageOf(String(link), page);
  if (printer.isJson) printer.document({ link: url, expiresAt });
  else terminal.out(`${url}\n`);
  printer.say("it signs one browser in, within 24 hours");
  if (terminal.isTerminal) await terminal.openUrl(url);
  return EXIT.done;
}

/** The link with a page of the console in its path. */
function pageOf(link: string, page: string): string {
  if (!URL.canParse(link)) throw new CliError(EXIT.failed, "control does not answer with a link");
  const url = new URL(link);
  url.pathname = page;
  return url.href;
}
