/** `posthaste send`: a made-up event to every URL of a destination, now. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import type { Entry } from "../printer.ts";

const COLUMNS = ["url", "outcome", "status", "error", "durationMs", "answer"];

export function addSend(program: Command, perform: Perform): void {
  program
    .command("send <destinationId>")
    .description("send a test event to every URL of a destination; ends with 6 when only some took it, 3 when none did")
    .option("--type <type>", "page, screen, identify, track, alias, group or delete", "track")
    .option("--sign-with <secret>", "active or next: which shared secret signs it", "active")
    .action((id: string, options: { type: string; signWith: string }, command: Command) =>
      perform(command, async ({ api, printer }) => {
        const { type, signWith } = options;
        const answer = await api.call("POST", `/v1/destinations/${encodeURIComponent(id)}/test`, { type, signWith });
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
      ]),
    );
}

function codeOf(urls: readonly Entry[]): ExitCode {
  const taken = urls.filter(({ outcome }) => outcome === "delivered").length;
  if (taken === urls.length) return EXIT.done;
  return taken === 0 ? EXIT.no : EXIT.partly;
}
