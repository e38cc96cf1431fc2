/** `posthaste status`: is anything wrong, where, since when, and is it tried again? */
import type { Command } from "commander";
import { cellText } from "../cell.ts";
import type { Context, Perform } from "../context.ts";
import type { Entry } from "../entries.ts";
import { examples } from "../examples.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { GIVE_UP_MS, keepAsking } from "./keep-asking.ts";
import { attentionOf, statusLines } from "./status-lines.ts";

const TERMINAL_LOOK_MS = 2000;
const LOOK_MS = 5000;
/** Up to the top, everything below it gone. */
const CLEAR = "\u001b[H\u001b[J";

export function addStatus(program: Command, perform: Perform): void {
  program
    .command("status")
    .description(
      "is anything wrong, where, since when; ends with 3 when a service is not ready or a destination needs you",
    )
    .option("--watch", "look again and again until Ctrl-C")
    .action(({ watch }: { readonly watch?: boolean }, command: Command) =>
      perform(command, async (context) => {
        const { terminal } = context;
        if (watch !== true) return print(context, await context.api.call("GET", "/v1/status"));
        return keepAsking(context, {
          everyMs: terminal.isTerminal ? TERMINAL_LOOK_MS : LOOK_MS,
          giveUpMs: GIVE_UP_MS,
          ask: async () => {
            const status = await context.api.call("GET", "/v1/status");
            if (terminal.isTerminal && !context.printer.isJson) terminal.out(CLEAR);
            print(context, status, true);
            return false;
          },
        });
      }),
    )
    .addHelpText("after", examples(["posthaste status", "posthaste status --json"]));
}

/** One line of JSON each where it is looked at again. */
function print({ printer }: Context, status: Entry, isWatched = false): ExitCode {
  if (printer.isJson && isWatched) printer.list([status], []);
  else if (printer.isJson) printer.document(status);
  else printer.lines(statusLines(status, Date.now()).map(cellText));
  if (status.complete !== true) printer.say("control is still reading what delivery says: some of it may be missing");
  return status.ready === true && attentionOf(status).needing === 0 ? EXIT.done : EXIT.no;
}
