/** `posthaste login`, `logout` and `profiles`: controls with their tokens, kept on this machine. */
import type { Command } from "commander";
import type { Context, Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT } from "../exit-code.ts";
import { assertProfileName, profileOf, readProfiles, writeProfiles } from "../profiles.ts";

const DEFAULT_NAME = "default";

export function addLogin(program: Command, perform: Perform): void {
  program
    .command("login [name]")
    .description("keep control's URL and a token as a profile, which further commands use; the token is tried first")
    .action((name: string | undefined, _: object, command: Command) =>
      perform(command, (context) => login(context, name ?? DEFAULT_NAME)),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste login --url https://control.example",
        "posthaste login production --url https://control.example --token-file token.txt",
      ]),
    );

  program
    .command("logout [name]")
    .description("forget a profile and its token, the current one unless named; the token itself stays valid")
    .action((name: string | undefined, _: object, command: Command) =>
      perform(command, async ({ terminal, printer }) => {
        const all = await readProfiles(terminal);
        const gone = name ?? all.current ?? DEFAULT_NAME;
        profileOf(all, gone);
        const { [gone]: __, ...profiles } = all.profiles;
        await writeProfiles(terminal, { profiles, current: all.current === gone ? null : all.current });
        printer.say(`forgot the profile ${gone}; posthaste tokens revoke ends its token`);
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples(["posthaste logout production"]));

  program
    .command("profiles")
    .description("the profiles of this machine, without their tokens")
    .action((_: object, command: Command) =>
      perform(command, async ({ terminal, printer }) => {
        const { current, profiles } = await readProfiles(terminal);
        const rows = Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }));
        printer.list(rows, ["name", "url", "current"]);
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples(["posthaste profiles"]));
}

async function login(context: Context, name: string) {
  const { access, terminal, printer } = context;
  assertProfileName(name);
  const token = access.token ?? (await askToken(context));
  const session = await context.withToken(token).call("GET", "/v1/session");
  const { profiles } = await readProfiles(terminal);
  const kept = { url: access.url, token };
  await writeProfiles(terminal, { current: name, profiles: { ...profiles, [name]: kept } });
  printer.say(`${access.url} takes the token of ${String(session.name)}; it is the profile ${name} from now on`);
  return EXIT.done;
}

async function askToken({ access, terminal }: Pick<Context, "access" | "terminal">): Promise<string> {
  if (!terminal.canAsk) {
    throw new CliError(EXIT.usage, `there is no terminal to ask for the token of ${access.url} on`, {
      hint: "name a file that holds it with --token-file, - for standard input",
    });
  }
  const token = (await terminal.askSecret(`Token for ${access.url}: `)).trim();
  if (token === "") throw new CliError(EXIT.no, "nothing was done");
  return token;
}
