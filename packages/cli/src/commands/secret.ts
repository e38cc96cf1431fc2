/** `posthaste secret`: the stages in which a destination's shared secret is rotated. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit-code.ts";
import { readSecret } from "./destinations.ts";

const ID = "dst_4k2v8m1n0p3q5r7s";

const STEPS = [
  ["switch", "sign by the next secret from now on; the old one is kept for undo"],
  ["undo", "go one stage back: sign by the old secret again, or forget the next one"],
  ["retire", "forget the old secret, for good"],
] as const;

export function addSecret(program: Command, perform: Perform): void {
  const secret = program.command("secret").description("rotate a destination's shared secret, in stages");

  secret
    .command("next <destinationId>")
    .description("name the secret that will follow; check it with: posthaste send --sign-with next")
    .requiredOption("--shared-secret-file <path>", "file that holds it; - reads standard input")
    .action((id: string, options: { sharedSecretFile: string }, command: Command) =>
      perform(command, async ({ api, printer, terminal }) => {
        const sharedSecret = await readSecret(terminal, options.sharedSecretFile, "--shared-secret-file");
        printer.document(await api.call("POST", pathOf(id, "next"), { sharedSecret }));
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples([`posthaste secret next ${ID} --shared-secret-file secret.txt`]));

  for (const [step, description] of STEPS) {
    secret
      .command(`${step} <destinationId>`)
      .description(description)
      .action((id: string, _: object, command: Command) =>
        perform(command, async ({ api, printer }) => {
          printer.document(await api.call("POST", pathOf(id, step)));
          return EXIT.done;
        }),
      )
      .addHelpText("after", examples([`posthaste secret ${step} ${ID}`]));
  }
}

function pathOf(id: string, step: string): string {
  return `/v1/destinations/${encodeURIComponent(id)}/secret/${step}`;
}
