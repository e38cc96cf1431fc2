/**
 * The facts of a delivery that must be kept: those that say how it stands, however many there were. Facts may be added
 * in any order, and twice: the facts that are kept are the same, and so is the verdict on them.
 */
import type { AttemptRecord } from "../delivery/attempt-record.ts";
import type { DeliveryFacts, LetterFact } from "./delivery-facts.ts";
import { compareFacts, type Fact, factsInOrder, type OwedUrls, sharesUrl, takenBy, urlsOf } from "./fact-order.ts";

/**
 * Adds facts to those that are known. It keeps each fact that no later one overtakes, the newest attempt, and the
 * newest attempt that delivered.
 */
export function addFacts<Letter extends LetterFact>(
  known: DeliveryFacts<Letter>,
  more: DeliveryFacts<Letter>,
): DeliveryFacts<Letter> {
  const all = withoutRepeats(
    factsInOrder({
      attempts: [...known.attempts, ...more.attempts],
      deferrals: [...known.deferrals, ...more.deferrals],
      letters: [...known.letters, ...more.letters],
    }),
  );
  const newest = all.findLast((fact) => "attempt" in fact);
  const delivered = all.findLast((fact) => "attempt" in fact && takenBy(fact.attempt) !== undefined);
  const kept = all.filter(
    (fact, index) =>
      fact === newest || fact === delivered || !all.slice(index + 1).some((later) => overtakes(later, fact)),
  );
  return {
    attempts: kept.flatMap((fact) => ("attempt" in fact ? [fact.attempt] : [])),
    deferrals: kept.flatMap((fact) => ("deferral" in fact ? [fact.deferral] : [])),
    letters: kept.flatMap((fact) => ("letter" in fact ? [fact.letter] : [])),
  };
}

/** The newest fact; undefined where there is none. */
export function lastFact<Letter extends LetterFact>(facts: DeliveryFacts<Letter>): Fact<Letter> | undefined {
  return factsInOrder(facts).at(-1);
}

function withoutRepeats<Letter extends LetterFact>(facts: readonly Fact<Letter>[]): readonly Fact<Letter>[] {
  return facts.filter((fact, index) => {
    const next = facts[index + 1];
    return next === undefined || compareFacts(fact, next) !== 0;
  });
}

/** Whether a later fact closes all that this one opened, and all that this one closed. */
function overtakes(later: Fact, fact: Fact): boolean {
  const ended = urlsOf(later);
  return (
    covers(ended, urlsOf(fact)) &&
    ("attempt" in fact ? followUpsOf(fact.attempt) : []).every((urls) => sharesUrl(urls, ended))
  );
}

function followUpsOf({ followUps }: AttemptRecord): readonly OwedUrls[] {
  return followUps.map(({ urls }) => urls);
}

function covers(all: OwedUrls, some: OwedUrls): boolean {
  if (all === null) return true;
  return some?.every((url) => all.includes(url)) ?? false;
}
