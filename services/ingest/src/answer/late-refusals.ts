/**
 * Answers refusals late to a source that sends too much and goes on. A refusal costs nearly as much as a call, and a
 * sender that waits for each answer sends no faster than it is answered.
 *
 * Owns: the refusals that are held, and how many refusals each source was answered in the current second.
 * LA1  The first `PROMPT_REFUSALS` of a source within a second are answered at once, the others one to two seconds
 *      later, evenly spread over that second: senders that were refused together and send again at once come apart.
 * LA2  At most `MAX_HELD_REFUSALS` are held at once; beyond that refusals are answered at once. A held refusal keeps
 *      the bytes that its request's socket has buffered, until the sender leaves.
 */
import { MAX_HELD_REFUSALS, PROMPT_REFUSALS, REFUSAL_DELAY_MS } from "../limits.ts";

/** The golden ratio. The fractions of its multiples lie evenly between 0 and 1, however many there are. */
const SPREAD = (Math.sqrt(5) - 1) / 2;

export interface LateRefusals {
  /**
   * Calls `tell` once, at once or later. Returns a function that calls `tell` now if it was not called; for when the
   * sender has left.
   */
  refuse(sourceId: string, tell: () => void): () => void;
}

/** `monotonicMs`: the monotonic clock, in ms. */
export function createLateRefusals(monotonicMs: () => number): LateRefusals {
  const reportedTo = new Map<string, number>();
  let sinceMs = monotonicMs();
  let held = 0;
  /** Where in its second the next refusal is answered, from 0 to 1. */
  let place = 0;

  const isPrompt = (sourceId: string): boolean => {
    const nowMs = monotonicMs();
    if (nowMs - sinceMs >= REFUSAL_DELAY_MS) {
      sinceMs = nowMs;
      reportedTo.clear();
    }
    const reported = (reportedTo.get(sourceId) ?? 0) + 1;
    reportedTo.set(sourceId, reported);
    return reported <= PROMPT_REFUSALS;
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
