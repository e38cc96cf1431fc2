/** Sending dead letters again: counted, asked about, and followed to the end. */
import { setTimeout as delay } from "node:timers/promises";
import type { Context } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";

const PATH = "/v1/dead-letters/replay";
const LOOK_MS = 250;

/** 0 when all that was begun is sent again, 3 when nothing matched, 6 when the replay ended before its end. */
export async function replay(
  { api, printer, confirm }: Context,
  filter: Readonly<Record<string, string>>,
  dryRun: boolean,
): Promise<ExitCode> {
  const counted = await api.call("POST", PATH, { ...filter, dryRun: true });
  if (counted.matched === 0) {
    printer.document(counted);
    printer.say("nothing matches");
    return EXIT.no;
  }
  if (dryRun) {
    printer.document(counted);
    printer.say(`would send ${counted.matched} dead letters again`);
    return EXIT.done;
  }
  await confirm(`Send ${counted.matched} dead letters again?`);
  const { id } = await api.call("POST", PATH, filter);
  if (typeof id !== "string") throw new CliError(EXIT.no, "nothing matches any more");
  for (;;) {
    const progress = await api.call("GET", `/v1/replays/${encodeURIComponent(id)}`);
    if (progress.endedAt !== null) {
      printer.document(progress);
      printer.say(`sent ${progress.replayed} of ${progress.matched} again`);
      return progress.state === "done" ? EXIT.done : EXIT.partly;
    }
    await delay(LOOK_MS);
  }
}
