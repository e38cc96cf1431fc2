/** Whether a plan names a dead letter (RP1 of `replay.ts`), a replay sent it, or a purge took it. */
import type { RecordedProgress } from "@posthaste/contracts/replay-codec";
import { type LetterFacts, letterCheck } from "@posthaste/core/replay/letter-filter";
import { nextOffset } from "@posthaste/core/replay/replay";
import type { ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { LetterRow } from "../read-model/letter-row.ts";
import type { AlikeLetters } from "../read-model/letter-rows.ts";
import type { LetterTopic } from "./letter-topic.ts";
import { PlaceSet } from "./place-set.ts";
import type { HeldPlan, ReplayStore } from "./replay-store.ts";
import { type RowFilter, rowFilter } from "./row-filter.ts";

export type LetterTest = (letter: LetterFacts) => boolean;
/** For letters that are alike: whether one of them is meant; null where only the whole letter tells. */
export type RowsTest = (letters: AlikeLetters) => (row: LetterRow) => boolean | null;
type PlaceTest = (place: Pick<LetterFacts, "partition" | "offset">) => boolean;

/** The letters that were counted when the plan was made. */
export function meantBy(plan: ReplayPlan): LetterTest {
  const [fits, isNamed] = [letterCheck(plan.filter), namedBy(plan)];
  return (letter) => isNamed(letter) && fits(letter);
}

/** The places that the plan counted, whatever stands there. */
function namedBy({ ranges, leftOutPlaces }: ReplayPlan): PlaceTest {
  const leftOut = PlaceSet.decode(leftOutPlaces);
  return ({ partition, offset }) => {
    const range = ranges.find((each) => each.partition === partition);
    if (range === undefined || offset < range.start || offset >= range.end) return false;
    return !leftOut.has(partition, offset);
  };
}

/** The same by rows, of several plans: where each stands that is meant, and what was asked for. */
function byRows(tests: readonly { readonly filter: RowFilter; readonly isNamed: PlaceTest }[]): RowsTest {
  return (letters) => {
    const ofThem = tests.filter(({ filter }) => filter.fitsAlike(letters));
    return (row) => {
      let isSure = true;
      for (const { filter, isNamed } of ofThem) {
        const fits = filter.fitsRow(row);
        if (fits === false || !isNamed(row)) continue;
        if (fits) return true;
        isSure = false;
      }
      return isSure ? false : null;
    };
  };
}

/** What earlier plans did, by the records that stand now; tests are made anew only for records that changed. */
export class PastPlans {
  readonly #store: Pick<ReplayStore, "plans">;
  readonly #letters: Pick<LetterTopic, "id">;
  readonly #tests = new WeakMap<object, LetterTest>();

  constructor(store: Pick<ReplayStore, "plans">, letters: Pick<LetterTopic, "id">) {
    this.#store = store;
    this.#letters = letters;
  }

  /** Whether there is anything that was purged; while there is not, nobody needs to ask. */
  get hasPurges(): boolean {
    for (const { plan } of this.#plans()) if (isPurge(plan)) return true;
    return false;
  }

  /** Of the letters that one of the purges named. */
  purged(): LetterTest {
    const tests = [...this.#plans()].filter(({ plan }) => isPurge(plan)).map(({ plan }) => this.#meant(plan));
    return (letter) => tests.some((test) => test(letter));
  }

  /** Of the letters that a replay sent, but for the one of that id. */
  replayed(exceptId: string | null): LetterTest {
    const tests = [...this.#plans()]
      .filter(({ id, plan }) => id !== exceptId && plan.purpose === "replay")
      .flatMap((held) => this.#sent(held) ?? []);
    return (letter) => tests.some((test) => test(letter));
  }

  /** As `purged`. */
  purgedRows(): RowsTest {
    const purges = [...this.#plans()].filter(({ plan }) => isPurge(plan));
    return byRows(purges.map(({ plan }) => ({ filter: rowFilter(plan.filter), isNamed: namedBy(plan) })));
  }

  /** As `replayed`. */
  replayedRows(exceptId: string | null): RowsTest {
    const sent = [...this.#plans()].flatMap(({ id, plan, progress }) => {
      if (id === exceptId || plan.purpose !== "replay" || progress === undefined || progress.sent === 0) return [];
      const [isPlanned, isPassed] = [namedBy(plan), passedBy(progress)];
      const isNamed: PlaceTest = (place) => isPlanned(place) && isPassed(place);
      return [{ filter: rowFilter(plan.filter), isNamed }];
    });
    return byRows(sent);
  }

  /** Those over the topic as it is now. */
  *#plans(): Iterable<HeldPlan> {
    const { id } = this.#letters;
    for (const held of this.#store.plans()) {
      const { topicId } = held.plan;
      if (topicId === null || id === null || topicId === id) yield held;
    }
  }

  #meant(plan: ReplayPlan): LetterTest {
    const made = this.#tests.get(plan);
    if (made !== undefined) return made;
    const test = meantBy(plan);
    this.#tests.set(plan, test);
    return test;
  }

  #sent({ plan, progress }: HeldPlan): LetterTest | undefined {
    if (progress === undefined || progress.sent === 0) return undefined;
    const made = this.#tests.get(progress);
    if (made !== undefined) return made;
    const [isMeant, isPassed] = [this.#meant(plan), passedBy(progress)];
    const test: LetterTest = (letter) => isPassed(letter) && isMeant(letter);
    this.#tests.set(progress, test);
    return test;
  }
}

/** Of the places that a plan names, those that its replay sent. */
function passedBy(progress: RecordedProgress): PlaceTest {
  const leftOut = PlaceSet.decode(progress.leftOutPlaces);
  return ({ partition, offset }) =>
    offset < nextOffset(progress, { partition, offset: 0 }) && !leftOut.has(partition, offset);
}

function isPurge({ purpose, startedAtMs }: ReplayPlan): boolean {
  return purpose === "purge" && startedAtMs !== null;
}
