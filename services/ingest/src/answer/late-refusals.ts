/**
 * Telling a source that it sends too much: late to a source that goes on nevertheless, since a refusal costs nearly
 * what a call does, and a sender that waits for each answer sends no faster than it is answered.
 *
 * Owns the refusals that are held, and how many each source was told in the running second.
 * LA1  The first refusals of a source within a second are told at once; its others a second later.
 * LA2  So many are held at once and no more; beyond that they are told at once. Each holds what of its request the
 *      socket has buffered.
 */
import { MAX_HELD_REFUSALS, PROMPT_REFUSALS, REFUSAL_DELAY_MS } from "../limits.ts";

export interface LateRefusals {
  /** Calls `tell` at once or later, once. */
  refuse(sourceId: string, tell: () => void): void;
}

/** `monotonicMs`: ms, never going back. */
export function createLateRefusals(monotonicMs: () => number): LateRefusals {
  const toldTo = new Map<string, number>();
  let sinceMs = monotonicMs();
  let held = 0;

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
        return;
      }
      held++;
      setTimeout(() => {
        held--;
        tell();
      }, REFUSAL_DELAY_MS);
    },
  };
}
