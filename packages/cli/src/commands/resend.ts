/** `posthaste deliveries resend`: one delivery again, now, by hand. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit-code.ts";
import { given } from "../options.ts";

export function addResend(deliveries: Command, perform: Perform): void {
  deliveries
    .command("resend <messageId> <destinationId>")
    .description("send one delivery again, now; ends with 3 where its destination is off or its record is gone")
    .option("--source-id <id>", "where two sources sent the same message id")
    .action((messageId: string, destinationId: string, _: object, command: Command) =>
      perform(command, async ({ api, printer }) => {
        // The leaf has the option too, and commander gives it to that one.
        const { sourceId } = command.optsWithGlobals<{ readonly sourceId?: string }>();
        const body = given({ messageId, destinationId, sourceId });
        const answer = await api.call("POST", "/v1/deliveries/resend", body);
        printer.document(answer);
        if (answer.copyWaits === true) printer.say("a copy that waits for a retry stays, and is sent when it is due");
        printer.say(`  posthaste deliveries --replay-id ${answer.replayId}    shows what comes of it`);
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples(["posthaste deliveries resend message-7 dst_4k2v8m1n0p3q5r7s"]));
}
