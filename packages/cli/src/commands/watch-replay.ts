/** A replay as it goes on: how far, how fast, how long still. */
import { setTimeout as delay } from "node:timers/promises";
import type { Context } from "../context.ts";
import type { Entry } from "../entries.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";
import type { Printer } from "../printer.ts";
import { startProgress } from "../progress.ts";
import { skippedWords } from "./dead-letter-plan.ts";

const LOOK_MS = 250;
/** A replay goes on while its control is replaced, which takes less than this. */
const SILENCE_MS = 60_000;
const AGAIN_MS = 1000;
/** How long outcomes are waited for after the replay's end, and while none is added to those that are known. */
const OUTCOMES_MS = { most: 60_000, quiet: 5000 } as const;

/**
 * Until its end, and until the outcome of each delivery is known: control counts outcomes as it reads the delivery log,
 * behind the sending, and a delivery that waits for a retry has none yet. 0 when it is done, 6 when it was cancelled or
 * failed. Ctrl-C leaves it running, and says so.
 */
export async function watchReplay(context: Context, id: string): Promise<ExitCode> {
  const { printer, terminal } = context;
  const progress = startProgress(context);
  const forget = terminal.onInterrupt(() => {
    progress.end();
    printer.say(`${id} goes on without this command`);
    sayHowToGoOn(printer, id);
  });
  try {
    const outcomes = new AwaitedOutcomes();
    for (let isFirst = true; ; isFirst = false) {
      const replay = await askFor(context, id, isFirst ? 0 : SILENCE_MS);
      const { state, matched, replayed } = replay;
      if (replay.endedAt !== null && !outcomes.awaits(replay)) {
        progress.end();
        printer.document(replay);
        sayEnd(printer, replay);
        return state === "done" ? EXIT.done : EXIT.partly;
      }
      if (replay.endedAt === null) progress.report(`${state}:`, Number(replayed), Number(matched));
      else progress.report("outcomes:", knownOf(replay), Number(replayed));
      await delay(LOOK_MS);
    }
  } finally {
    progress.end();
    forget();
  }
}

/** The deliveries sent whose outcome is known. */
function knownOf({ delivered, failedAgain }: Entry): number {
  return Number(delivered ?? 0) + Number(failedAgain ?? 0);
}

/** Whether outcomes are still waited for: not once all are known, nor for longer than `OUTCOMES_MS`. */
class AwaitedOutcomes {
  #endedAtMs: number | null = null;
  /** When an outcome was added last. */
  #addedAtMs = 0;
  #known = -1;

  /** To be asked of a replay that ended, each time that it was looked at. */
  awaits(replay: Entry): boolean {
    const [nowMs, known] = [performance.now(), knownOf(replay)];
    this.#endedAtMs ??= nowMs;
    if (known !== this.#known) this.#addedAtMs = nowMs;
    this.#known = known;
    if (known >= Number(replay.replayed)) return false;
    return nowMs - this.#endedAtMs < OUTCOMES_MS.most && nowMs - this.#addedAtMs < OUTCOMES_MS.quiet;
  }
}

/** `sent 9 of 9 again: 6 delivered, 1 failed again, 2 not known yet`, and the command that shows the latter later. */
function sayEnd(printer: Printer, replay: Entry): void {
  const { id, matched, replayed, delivered, failedAgain, leftOutSince } = replay;
  const open = Math.max(0, Number(replayed) - knownOf(replay));
  const outcomes = [
    ...(Number(delivered ?? 0) > 0 ? [`${delivered} delivered`] : []),
    ...(Number(failedAgain ?? 0) > 0 ? [`${failedAgain} failed again`] : []),
    ...(open > 0 ? [`${open} not known yet`] : []),
  ].join(", ");
  const left = skippedWords(leftOutSince);
  const of = `sent ${replayed} of ${matched} again`;
  printer.say(`${of}${outcomes === "" ? "" : `: ${outcomes}`}${left === "" ? "" : `; left out: ${left}`}`);
  if (open === 0) return;
  sayNext(printer, [
    [["replays", "get", id], "says later what came of them"],
    [["deliveries", "--replay-id", id], "shows each attempt"],
  ]);
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
