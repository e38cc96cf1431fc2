/** `posthaste secret`: the stages in which a destination's shared secret is rotated. */
import type { Command } from "commander";
import type { ApiClient } from "../api-client.ts";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT } from "../exit-code.ts";
import { type NextCommand, sayNext } from "../next-commands.ts";
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
        sayNext(printer, [
          [["send", id, "--sign-with", "next"], "tries it"],
          [["secret", "switch", id], "signs by it from then on, once every receiver has it"],
          [["secret", "undo", id], "forgets it"],
        ]);
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples([`posthaste secret next ${ID} --shared-secret-file secret.txt`]));

  for (const [step, description] of STEPS) {
    secret
      .command(`${step} <destinationId>`)
      .description(description)
      .action((id: string, _: object, command: Command) =>
        perform(command, async ({ api, printer, confirm }) => {
          if (step === "retire") await confirm(`Forget the old secret of destination ${id}? It cannot be undone.`);
          printer.document(
            await api.call("POST", pathOf(id, step)).catch(async (error: unknown) => {
              throw step === "switch" ? await withFirstStep(error, api, id) : error;
            }),
          );
          sayNext(printer, nextAfter(step, id));
          return EXIT.done;
        }),
      )
      .addHelpText("after", examples([`posthaste secret ${step} ${ID}`]));
  }
}

function nextAfter(step: (typeof STEPS)[number][0], id: string): readonly NextCommand[] {
  if (step !== "switch") return [[["send", id], "sends a test event, signed as events are now"]];
  return [
    [["secret", "undo", id], "signs by the old one again"],
    [["secret", "retire", id], "forgets the old one, once every receiver has the new one"],
  ];
}

/** The refusal of a step with the next secret, with the command that comes before it where none is named. */
export async function withFirstStep(error: unknown, api: ApiClient, id: string): Promise<unknown> {
  if (!(error instanceof CliError) || error.exitCode !== EXIT.no) return error;
  const destination = await api.call("GET", `/v1/destinations/${encodeURIComponent(id)}`).catch(() => undefined);
  const options = { cause: error };
  switch (destination?.secretStage) {
    case "active":
      return new CliError(error.exitCode, error.message, {
        ...options,
        hint: `posthaste secret next ${id} --shared-secret-file FILE comes first: it names the next secret`,
      });
    case "none":
      return new CliError(error.exitCode, error.message, {
        ...options,
        hint: `posthaste destinations update ${id} --shared-secret-file FILE comes first: it sets a secret`,
      });
    default:
      return error;
  }
}

function pathOf(id: string, step: string): string {
  return `/v1/destinations/${encodeURIComponent(id)}/secret/${step}`;
}
