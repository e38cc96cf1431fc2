/** How far control is with counting dead letters, told while the count is waited for. */
import { setTimeout as delay } from "node:timers/promises";
import type { Context } from "../context.ts";
import { type Entry, entriesOf, isEntry } from "../entries.ts";
import { startProgress } from "../progress.ts";

/** Most counts are over by then. */
const LOOK_MS = 1000;

/**
 * Tells of the count for `purpose` that is asked for with `body`, from a second after it began until the answered
 * function is called. A control that does not know how far it is, as one of an earlier release, is asked no more.
 */
export function startCounting(context: Context, purpose: string, body: object): () => Promise<void> {
  const [progress, ended] = [startProgress(context), new AbortController()];
  const looking = (async () => {
    for (let isSaid = false; ; ) {
      await delay(LOOK_MS, undefined, { signal: ended.signal });
      const counting = entriesOf((await context.api.call("GET", "/v1/replays/counting")).data);
      const own = counting.find((each) => isOf(each, { purpose, ...body }));
      if (ended.signal.aborted || own === undefined) continue;
      const isBehind = Number(own["before"] ?? 0) > 0;
      if (isBehind && !isSaid) context.printer.say("control makes another count first: one at a time");
      else if (own.of !== null) progress.report("counting:", Number(own.looked), Number(own.of));
      isSaid = isBehind;
    }
  })().catch(() => undefined);
  return async () => {
    ended.abort();
    await looking;
    progress.end();
  };
}

/** Whether it is the count asked for: control returns it with the fields of the request. */
function isOf({ purpose, again, filter }: Entry, asked: Entry): boolean {
  const { purpose: askedFor, again: isAgain = false, ratePerSecond: _, ...others } = asked;
  return purpose === askedFor && again === isAgain && isEntry(filter) && wordsOf(filter) === wordsOf(others);
}

function wordsOf(filter: Entry): string {
  const isMoment = (name: string): boolean => name === "since" || name === "until";
  const known = Object.entries(filter).filter(([, value]) => value !== undefined);
  return JSON.stringify(
    known.map(([name, value]) => [name, isMoment(name) ? Date.parse(String(value)) : value]).sort(),
  );
}
