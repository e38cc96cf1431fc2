/**
 * The mark of a dead letter: its state since its death, as a number beside its entry.
 *
 * LM1  A dead letter was *delivered since* by an attempt of its message and destination that began no sooner than it
 *      died: under `settle: any` where one such attempt delivered, under `settle: each` where such attempts were taken
 *      by every URL that was dead. The destination's present setting decides, and it may change, so the number says
 *      both.
 * LM2  It *died again* where a dead letter of its message and destination says that it was sent again from this one's
 *      place. Else it is *open*; it stays open while its replayed delivery is on its way.
 * LM3  It was delivered since, too, where a replay that ended long ago sent it and it did not die again. Every sent
 *      delivery is delivered or dies, and the attempt that delivered it may no longer be in its topic
 *      (`replayed-dead-letters.ts`).
 */
import type { SettleRule } from "@posthaste/core/config/destination";
import { attemptFromEntry } from "./attempt-entry.ts";
import { judgedFromEntry, replayedFrom } from "./dead-letter-entry.ts";
import type { ProjectionEntry } from "./projection-entry.ts";

/** The bits of the number. */
const DELIVERED: Readonly<Record<SettleRule, number>> = { any: 1, each: 2 };
const DIED_AGAIN = 4;
/** LM3, as far as the replay goes. */
export const SENT_LONG_AGO = 8;
/** Of a dead letter that was delivered since under either setting: no attempt says more. */
export const DELIVERED_BITS = DELIVERED.any | DELIVERED.each;

export const DEAD_LETTER_STATES = ["open", "deliveredSince", "diedAgain"] as const;
export type DeadLetterState = (typeof DEAD_LETTER_STATES)[number];

/** The state of a dead letter with this number. */
export function deadLetterState(mark: number, settle: SettleRule): DeadLetterState {
  if ((mark & DELIVERED[settle]) !== 0) return "deliveredSince";
  if ((mark & DIED_AGAIN) !== 0) return "diedAgain";
  return (mark & SENT_LONG_AGO) === 0 ? "open" : "deliveredSince";
}

/** Whether SENT_LONG_AGO would say more of a dead letter with this number. */
export function isUndecided(mark: number): boolean {
  return (mark & (DIED_AGAIN | SENT_LONG_AGO)) === 0 && (mark & DELIVERED_BITS) !== DELIVERED_BITS;
}

/** The condition, in SQL, that a dead letter is open, and that it was delivered since. */
export function sqlOf(settle: SettleRule): { readonly isOpen: string; readonly isDelivered: string } {
  const delivered = DELIVERED[settle];
  return {
    isOpen: `(mark & ${delivered | DIED_AGAIN | SENT_LONG_AGO}) = 0`,
    isDelivered: `((mark & ${delivered}) <> 0 OR (mark & ${DIED_AGAIN | SENT_LONG_AGO}) = ${SENT_LONG_AGO})`,
  };
}

/** The bits that attempts say, which began no sooner than the dead letter died. */
export function deliveredBits(deadLetter: ProjectionEntry, since: readonly ProjectionEntry[]): number {
  if (since.length === 0) return 0;
  const any = since.some(({ kind }) => kind === "delivered") ? DELIVERED.any : 0;
  const { urls } = judgedFromEntry(deadLetter);
  // A dead letter without an attempt names no URL: whatever delivers it delivers all of it.
  if (urls.length === 0) return any === 0 ? 0 : DELIVERED_BITS;
  const taken = urlsTaken(since);
  return any | (urls.every((url) => taken.has(url)) ? DELIVERED.each : 0);
}

/** The bits that dead letters of the same message and destination say. */
export function diedAgainBits(deadLetter: ProjectionEntry, others: readonly ProjectionEntry[]): number {
  const place = `${deadLetter.partition}/${deadLetter.offset}`;
  return others.some((other) => replayedFrom(other)?.endsWith(`/${place}`) === true) ? DIED_AGAIN : 0;
}

/** The URLs that answered 2xx in these attempts. */
export function urlsTaken(attempts: readonly ProjectionEntry[]): ReadonlySet<string> {
  const taken = attempts.flatMap((entry) =>
    attemptFromEntry(entry).urls.flatMap(({ url, status }) => (isSuccess(status) ? [url] : [])),
  );
  return new Set(taken);
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}
