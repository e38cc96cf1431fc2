/** `posthaste send`: a made-up event to every URL of a destination, or of settings that nobody saved, now. */
import type { Command } from "commander";
import type { Context, Perform } from "../context.ts";
import type { Entry } from "../entries.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";
import { given } from "../options.ts";
import { withFirstStep } from "./secret.ts";
import { readSettings } from "./settings-file.ts";

const COLUMNS = ["url", "outcome", "status", "error", "durationMs", "answer"];

const HINT = "posthaste send --help shows what there is";

interface SendOptions {
  readonly type: string;
  readonly signWith?: string;
  readonly settingsFile?: string;
}

export function addSend(program: Command, perform: Perform): void {
  program
    .command("send [destinationId]")
    .description("send a test event to every URL of a destination; ends with 6 when only some took it, 3 when none did")
    .option("--type <type>", "page, screen, identify, track, alias, group or delete", "track")
    .option("--sign-with <secret>", "active or next: which shared secret signs it; active unless it is said")
    .option(
      "--settings-file <path>",
      "settings as the API's JSON that nobody saved; of a destination, what is absent or *** is as it is stored",
    )
    .action((id: string | undefined, options: SendOptions, command: Command) =>
      perform(command, async (context) => {
        const { api, printer } = context;
        const { path, body } = await askedOf(context, id, options);
        const answer = await api.call("POST", path, body).catch(async (error: unknown) => {
          throw id !== undefined && options.signWith === "next" ? await withFirstStep(error, api, id) : error;
        });
        const urls: readonly Entry[] = Array.isArray(answer.urls) ? answer.urls : [];
        printer.list(urls, COLUMNS);
        printer.say(`sent as ${answer.messageId}`);
        return codeOf(urls);
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste send dst_4k2v8m1n0p3q5r7s",
        "posthaste send dst_4k2v8m1n0p3q5r7s --type identify --sign-with next",
        "posthaste send --settings-file settings.json",
        "posthaste send dst_4k2v8m1n0p3q5r7s --settings-file settings.json",
      ]),
    );
}

async function askedOf({ terminal }: Context, id: string | undefined, { type, signWith, settingsFile }: SendOptions) {
  if (settingsFile !== undefined) {
    if (signWith !== undefined) {
      throw new CliError(EXIT.usage, "--sign-with: settings that nobody saved are signed by their own secret");
    }
    const settings = await readSettings(terminal, settingsFile);
    return { path: "/v1/destinations/test", body: given({ settings, type, destinationId: id }) };
  }
  if (id === undefined)
    throw new CliError(EXIT.usage, "name a destination, or settings by --settings-file", { hint: HINT });
  const path = `/v1/destinations/${encodeURIComponent(id)}/test`;
  return { path, body: { type, signWith: signWith ?? "active" } };
}

function codeOf(urls: readonly Entry[]): ExitCode {
  const taken = urls.filter(({ outcome }) => outcome === "delivered").length;
  if (taken === urls.length) return EXIT.done;
  return taken === 0 ? EXIT.no : EXIT.partly;
}
