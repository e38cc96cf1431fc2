/**
 * The ratchet of the whole path: the CPU of each process under each load in the last run that was accepted, as times
 * the raw loop's. A later run may not take much more.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { type ByProcess, ofEach, PROCESSES } from "./whole-bench.ts";
import type { Summary } from "./whole-figures.ts";

const ACCEPTED = new URL("./accepted.json", import.meta.url);
/** How much more than the accepted figure is let pass. */
const ALLOWED = 1.15;
/** No figure is held to a smaller difference: that is the machine's. */
const LEAST_TIMES = 0.1;

export interface Excess {
  readonly load: string;
  readonly process: string;
  readonly times: number;
  readonly accepted: number;
}

type Accepted = Readonly<Record<string, ByProcess>>;

/** The figures that are over those of the last accepted run by more than 15 %. A load that is new is over nothing. */
export function excessesOf(summaries: readonly Summary[], accepted: Accepted = readAccepted()): readonly Excess[] {
  return summaries.flatMap(({ load, timesOf }) => {
    const before = accepted[load];
    if (before === undefined) return [];
    return PROCESSES.flatMap((process) => {
      const [times, held] = [timesOf[process], before[process]];
      return times > held * ALLOWED + LEAST_TIMES ? [{ load, process, times, accepted: held }] : [];
    });
  });
}

export function accept(summaries: readonly Summary[]): void {
  const rounded = summaries.map(({ load, timesOf }) => [load, ofEach((name) => Number(timesOf[name].toFixed(2)))]);
  writeFileSync(ACCEPTED, `${JSON.stringify({ ...readAccepted(), ...Object.fromEntries(rounded) }, null, 2)}\n`);
}

function readAccepted(): Accepted {
  return JSON.parse(readFileSync(ACCEPTED, "utf8")) as Accepted;
}
