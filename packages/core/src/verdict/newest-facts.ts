/**
 * The facts of a delivery that must be kept: those that say how it stands, however many there were. Facts may be added
 * in any order, and twice: the facts that are kept are the same, and so is the verdict on them.
 */
import type { AttemptRecord } from "../delivery/attempt-record.ts";
import type { DeadLetterFact, DeliveryFacts } from "./delivery-facts.ts";
import { compareFacts, type Fact, factsInOrder, type OwedUrls, sharesUrl, takenBy, urlsOf } from "./fact-order.ts";

/**
 * Adds facts to those that are known. It keeps each fact that no later one overtakes, the newest attempt, and the
 * newest attempt that delivered.
 */
export function addFacts<Dead extends DeadLetterFact>(
  known: DeliveryFacts<Dead>,
  more: DeliveryFacts<Dead>,
): DeliveryFacts<Dead> {
  const all = withoutRepeats(
    factsInOrder({
      attempts: [...known.attempts, ...more.attempts],
      deferrals: [...known.deferrals, ...more.deferrals],
      deadLetters: [...known.deadLetters, ...more.deadLetters],
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
    deadLetters: kept.flatMap((fact) => ("deadLetter" in fact ? [fact.deadLetter] : [])),
  };
}

/** The newest fact; undefined where there is none. */
export function lastFact<Dead extends DeadLetterFact>(facts: DeliveryFacts<Dead>): Fact<Dead> | undefined {
  return factsInOrder(facts).at(-1);
}

function withoutRepeats<Dead extends DeadLetterFact>(facts: readonly Fact<Dead>[]): readonly Fact<Dead>[] {
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
