/** A replay as it goes on: how far, how fast, how long still. */
import { setTimeout as delay } from "node:timers/promises";
import type { Context } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import type { Printer } from "../printer.ts";
import { startProgress } from "../progress.ts";
import { leftOutWords } from "./letter-plan.ts";

const LOOK_MS = 250;

/** Until its end: 0 when it is done, 6 when it was cancelled or failed. Ctrl-C leaves it running, and says so. */
export async function watchReplay(context: Context, id: string): Promise<ExitCode> {
  const { api, printer, terminal } = context;
  const progress = startProgress(context);
  const forget = terminal.onInterrupt(() => {
    progress.end();
    printer.say(`${id} goes on without this command`);
    sayHowToGoOn(printer, id);
  });
  try {
    for (;;) {
      const replay = await api.call("GET", `/v1/replays/${encodeURIComponent(id)}`);
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

export function sayHowToGoOn(printer: Printer, id: string): void {
  printer.say(`  posthaste replays watch ${id}    looks at it again`);
  printer.say(`  posthaste replays cancel ${id}   stops it`);
}
