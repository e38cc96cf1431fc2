/** `posthaste tokens`: callers of control, and their scopes. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";
import { collect } from "../options.ts";
import { removeEach } from "./remove.ts";
import { addList } from "./stored-commands.ts";

const PATH = "/v1/tokens";
const EXAMPLE = "tok_4k2v8m1n0p3q5r7s";

interface CreateOptions {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly link?: boolean;
}

export function addTokens(program: Command, perform: Perform): void {
  const tokens = program.command("tokens").description("who may ask control, by name, and for what");

  addList({
    ...{ group: tokens, perform, path: PATH },
    columns: ["id", "name", "scopes", "createdAt", "createdBy", "usedAt"],
    description: "list tokens, oldest first; what opens them is not kept",
    examples: ["posthaste tokens list"],
  });

  tokens
    .command("create")
    .description("make a token, and print it once; --link prints a sign-in link for it instead")
    .requiredOption("--name <name>", "of a person or a program: what the audit calls whoever uses it")
    .requiredOption("--scopes <scopes>", "read, write, replay: divided by commas", collect)
    .option("--link", "a sign-in link for a browser: it works once, within 24 hours")
    .action(({ name, scopes, link = false }: CreateOptions, command: Command) =>
      perform(command, async ({ api, printer }) => {
        const made = await api.call("POST", PATH, { name, scopes, link });
        printer.document(made);
        printer.say(`the ${link ? "link" : "token"} is shown here and nowhere again`);
        sayNext(printer, [[["tokens", "revoke", made.id], "takes it back"]]);
        return EXIT.done;
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste tokens create --name dashboard --scopes read",
        "posthaste tokens create --name dana --scopes read,write,replay --link",
      ]),
    );

  tokens
    .command("revoke <ids...>")
    .description("have tokens be refused from now on, and sessions that act as them")
    .action((ids: string[], _: object, command: Command) =>
      perform(command, (context) =>
        removeEach(context, { kind: "token", path: PATH, ids, dryRun: false, verb: "Revoke" }),
      ),
    )
    .addHelpText("after", examples([`posthaste tokens revoke ${EXAMPLE}`]));
}
