/** Asking control again and again, also past a time in which it does not answer. */
import { setTimeout as delay } from "node:timers/promises";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-code.ts";

/** Control that does not answer for so long is given up. */
export const GIVE_UP_MS = 60_000;

export interface KeepAskingOptions {
  /** Between two questions, in ms. */
  readonly everyMs: number;
  /** How long control may be gone, in ms. */
  readonly giveUpMs: number;
  /** Resolves with true when there is no more to ask. */
  readonly ask: () => Promise<boolean>;
}

/** Ends when `ask` says so; rejects with the error of `ask`, and when control does not answer for too long. */
export async function keepAsking({ printer }: Context, options: KeepAskingOptions): Promise<typeof EXIT.done> {
  let lostAtMs: number | null = null;
  for (;;) {
    try {
      const isDone = await options.ask();
      if (lostAtMs !== null) printer.say(`again since ${new Date().toISOString()}`);
      if (isDone) return EXIT.done;
      lostAtMs = null;
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode !== EXIT.notReachable) throw error;
      if (lostAtMs === null) printer.say(`lost connection: ${error.message}`);
      lostAtMs ??= performance.now();
      if (performance.now() - lostAtMs >= options.giveUpMs) throw error;
    }
    await delay(options.everyMs);
  }
}
