/**
 * The answers to the attempts of a delivery, also to attempts whose facts the delivery's entry no longer needs.
 *
 * PA1  An entry keeps the answers of the newest `MOST_ANSWERS` attempts whose facts it dropped. A delivery that is
 *      delivered at once has none, so its entry costs nothing more.
 * PA2  The answers are the same in whatever order the facts came, and however often.
 */
import type { AttemptRecord } from "@posthaste/core/delivery/attempt-record";
import { compareFacts } from "@posthaste/core/verdict/fact-order";

/** The most attempts of a delivery whose answers are told. */
export const MOST_ANSWERS = 8;

/** `answers`: for each URL, in the attempt's order, its status or the code of its error. */
export type PastAnswer = readonly [startedAtMs: number, attempt: number, answers: readonly (number | string)[]];

/** The newest of an entry's answers, of further ones, and of the attempts that are known and not kept. */
export function joinedAnswers(
  [past, more]: readonly [past: readonly PastAnswer[], more: readonly PastAnswer[]],
  known: readonly AttemptRecord[],
  kept: readonly AttemptRecord[],
): readonly PastAnswer[] {
  const dropped = known.filter((attempt) => !kept.some((each) => isSame(each, attempt))).map(answerOf);
  const [first, ...others] = dropped;
  if (more.length > 0 || others.length > 0) return newest([...past, ...more, ...dropped]);
  if (first === undefined) return past;
  // Nearly always the attempts come in their order.
  const isNewest = first[0] > (past.at(-1)?.[0] ?? 0);
  return isNewest ? [...past, first].slice(-MOST_ANSWERS) : newest([...past, first]);
}

/** The newest answers of all attempts, oldest first. */
export function allAnswers(past: readonly PastAnswer[], kept: readonly AttemptRecord[]): readonly PastAnswer[] {
  return newest([...past, ...kept.map(answerOf)]);
}

function newest(answers: readonly PastAnswer[]): readonly PastAnswer[] {
  if (answers.length === 0) return answers;
  const each = new Map(answers.map((answer) => [JSON.stringify(answer), answer]));
  return [...each]
    .sort(([text, [ms, attempt]], [otherText, [otherMs, other]]) => {
      return ms - otherMs || attempt - other || (text < otherText ? -1 : 1);
    })
    .slice(-MOST_ANSWERS)
    .map(([, answer]) => answer);
}

function answerOf({ startedAtMs, attempt, urls }: AttemptRecord): PastAnswer {
  return [startedAtMs, attempt, urls.map(({ status, error }) => status ?? error ?? "no_answer")];
}

function isSame(one: AttemptRecord, other: AttemptRecord): boolean {
  if (one === other) return true;
  return compareFacts({ atMs: one.startedAtMs, attempt: one }, { atMs: other.startedAtMs, attempt: other }) === 0;
}
