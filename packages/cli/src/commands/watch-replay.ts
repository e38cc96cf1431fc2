/** A replay as it goes on: how far, how fast, how long still. */
import { setTimeout as delay } from "node:timers/promises";
import type { Context } from "../context.ts";
import type { Entry } from "../entries.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";
import type { Printer } from "../printer.ts";
import { startProgress } from "../progress.ts";
import { leftOutWords } from "./letter-plan.ts";

const LOOK_MS = 250;
/** A replay goes on while its control is replaced, which takes less than this. */
const SILENCE_MS = 60_000;
const AGAIN_MS = 1000;

/** Until its end: 0 when it is done, 6 when it was cancelled or failed. Ctrl-C leaves it running, and says so. */
export async function watchReplay(context: Context, id: string): Promise<ExitCode> {
  const { printer, terminal } = context;
  const progress = startProgress(context);
  const forget = terminal.onInterrupt(() => {
    progress.end();
    printer.say(`${id} goes on without this command`);
    sayHowToGoOn(printer, id);
  });
  try {
    for (let isFirst = true; ; isFirst = false) {
      const replay = await askFor(context, id, isFirst ? 0 : SILENCE_MS);
      const { state, matched, replayed, leftOutSince } = replay;
      if (replay.endedAt !== null) {
        progress.end();
        printer.document(replay);
        const left = leftOutWords(leftOutSince);
        printer.say(`sent ${replayed} of ${matched} again${left === "" ? "" : `; left out: ${left}`}`);
        return state === "done" ? EXIT.done : EXIT.partly;
      }
      progress.report(`${state}:`, Number(replayed), Number(matched));
      await delay(LOOK_MS);
    }
  } finally {
    progress.end();
    forget();
  }
}

/** The replay as it stands; a control that does not answer is asked again for so long. */
async function askFor({ api, printer }: Context, id: string, patienceMs: number): Promise<Entry> {
  const giveUpAtMs = performance.now() + patienceMs;
  for (let isSaid = false; ; isSaid = true) {
    try {
      return await api.call("GET", `/v1/replays/${encodeURIComponent(id)}`);
    } catch (error) {
      const isSilence = error instanceof CliError && error.exitCode === EXIT.notReachable;
      if (!isSilence || performance.now() >= giveUpAtMs) throw error;
      if (!isSaid) printer.say(`${error.message}; ${id} goes on without it, and is asked for again`);
    }
    await delay(AGAIN_MS);
  }
}

export function sayHowToGoOn(printer: Printer, id: string): void {
  sayNext(printer, [
    [["replays", "watch", id], "looks at it again"],
    [["replays", "cancel", id], "stops it"],
  ]);
}
