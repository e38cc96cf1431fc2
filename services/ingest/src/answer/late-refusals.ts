/**
 * Telling a source that it sends too much: late to a source that goes on nevertheless, since a refusal costs nearly
 * what a call does, and a sender that waits for each answer sends no faster than it is answered.
 *
 * Owns the refusals that are held, and how many each source was told in the running second.
 * LA1  The first refusals of a source within a second are told at once; its others one to two seconds later, evenly
 *      spread over the second: who is refused together and sends again at once does not come together again.
 * LA2  So many are held at once and no more; beyond that they are told at once. Each holds what of its request the
 *      socket has buffered, until its sender leaves.
 */
import { MAX_HELD_REFUSALS, PROMPT_REFUSALS, REFUSAL_DELAY_MS } from "../limits.ts";

/** The golden ratio: its multiples, without their whole parts, lie evenly between 0 and 1, however many there are. */
const SPREAD = (Math.sqrt(5) - 1) / 2;

export interface LateRefusals {
  /** Calls `tell` at once or later, once; answers what is to be called when its sender has left: it is told then. */
  refuse(sourceId: string, tell: () => void): () => void;
}

/** `monotonicMs`: ms, never going back. */
export function createLateRefusals(monotonicMs: () => number): LateRefusals {
  const toldTo = new Map<string, number>();
  let sinceMs = monotonicMs();
  let held = 0;
  /** Where in the second the next one is told, from 0 to 1. */
  let place = 0;

  const isPrompt = (sourceId: string): boolean => {
    const nowMs = monotonicMs();
    if (nowMs - sinceMs >= REFUSAL_DELAY_MS) {
      sinceMs = nowMs;
      toldTo.clear();
    }
    const told = (toldTo.get(sourceId) ?? 0) + 1;
    toldTo.set(sourceId, told);
    return told <= PROMPT_REFUSALS;
  };

  return {
    refuse: (sourceId, tell) => {
      if (isPrompt(sourceId) || held >= MAX_HELD_REFUSALS) {
        tell();
        return () => {};
      }
      held++;
      place = (place + SPREAD) % 1;
      const tellOnce = () => {
        if (timer === undefined) return;
        clearTimeout(timer);
        timer = undefined;
        held--;
        tell();
      };
      let timer: NodeJS.Timeout | undefined = setTimeout(tellOnce, REFUSAL_DELAY_MS * (1 + place));
      return tellOnce;
    },
  };
}
