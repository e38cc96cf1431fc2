/** Whether a plan names a dead letter (RP1 of core's `replay.ts`), a replay sent it, or a purge took it. */
import type { RecordedProgress } from "@posthaste/contracts/replay-codec";
import { type DeadLetterFacts, deadLetterCheck } from "@posthaste/core/replay/dead-letter-filter";
import { nextOffset } from "@posthaste/core/replay/replay";
import type { ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { DeadLetterRow, GroupedDeadLetters } from "@posthaste/read-model/dead-letter-rows";
import type { DeadLetterTopic } from "./dead-letter-topic.ts";
import { PlaceSet } from "./place-set.ts";
import type { HeldPlan, ReplayStore } from "./replay-store.ts";
import { type RowFilter, rowFilter } from "./row-filter.ts";

export type DeadLetterTest = (deadLetter: DeadLetterFacts) => boolean;
/** The test of a dead letter by its row; null where only the whole dead letter tells. */
export type RowTest = (row: DeadLetterRow) => boolean | null;
/** The test for dead letters of one group; null where it holds for none of them. */
export type RowsTest = (deadLetters: GroupedDeadLetters) => RowTest | null;
type PlaceTest = (place: Pick<DeadLetterFacts, "partition" | "offset">) => boolean;

/** The test for the dead letters that a plan names. */
export function meantBy(plan: ReplayPlan): DeadLetterTest {
  const [fits, isNamed] = [deadLetterCheck(plan.filter), namedBy(plan)];
  return (deadLetter) => isNamed(deadLetter) && fits(deadLetter);
}

/** The test for the places that a plan names, whatever dead letter stands there. */
function namedBy({ ranges, leftOutPlaces }: ReplayPlan): PlaceTest {
  const leftOut = PlaceSet.decode(leftOutPlaces);
  return ({ partition, offset }) => {
    const range = ranges.find((each) => each.partition === partition);
    if (range === undefined || offset < range.start || offset >= range.end) return false;
    return !leftOut.has(partition, offset);
  };
}

/** The test, by rows, for the dead letters that any of several plans names. */
function byRows(tests: readonly { readonly filter: RowFilter; readonly isNamed: PlaceTest }[]): RowsTest {
  return (deadLetters) => {
    const ofThem = tests.filter(({ filter }) => filter.fitsGroup(deadLetters));
    if (ofThem.length === 0) return null;
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

/** The effects of earlier plans, by their current records. A test is made again only for a record that changed. */
export class PastPlans {
  readonly #store: Pick<ReplayStore, "plans">;
  readonly #deadLetters: Pick<DeadLetterTopic, "id">;
  readonly #tests = new WeakMap<object, DeadLetterTest>();

  constructor(store: Pick<ReplayStore, "plans">, deadLetters: Pick<DeadLetterTopic, "id">) {
    this.#store = store;
    this.#deadLetters = deadLetters;
  }

  /** Whether there was a purge; while there was none, nobody needs to ask. */
  get hasPurges(): boolean {
    for (const { plan } of this.#plans()) if (isPurge(plan)) return true;
    return false;
  }

  /** The test for dead letters that a purge names. */
  purged(): DeadLetterTest {
    const tests = [...this.#plans()].filter(({ plan }) => isPurge(plan)).map(({ plan }) => this.#meant(plan));
    return (deadLetter) => tests.some((test) => test(deadLetter));
  }

  /** The test for dead letters that a replay sent, other than the replay of that id. */
  replayed(exceptId: string | null): DeadLetterTest {
    const tests = [...this.#plans()]
      .filter(({ id, plan }) => id !== exceptId && plan.purpose === "replay")
      .flatMap((held) => this.#sent(held) ?? []);
    return (deadLetter) => tests.some((test) => test(deadLetter));
  }

  /** The test for dead letters that a replay sent which ended before a moment; null where there was no such replay. */
  sentBefore(ms: number): DeadLetterTest | null {
    const tests = [...this.#plans()].flatMap((held) => {
      const isOver = (held.progress?.endedAtMs ?? Number.POSITIVE_INFINITY) < ms;
      return isOver && held.plan.purpose === "replay" ? (this.#sent(held) ?? []) : [];
    });
    return tests.length === 0 ? null : (deadLetter) => tests.some((test) => test(deadLetter));
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

  /** The plans over the present topic. */
  *#plans(): Iterable<HeldPlan> {
    const { id } = this.#deadLetters;
    for (const held of this.#store.plans()) {
      const { topicId } = held.plan;
      if (topicId === null || id === null || topicId === id) yield held;
    }
  }

  #meant(plan: ReplayPlan): DeadLetterTest {
    const made = this.#tests.get(plan);
    if (made !== undefined) return made;
    const test = meantBy(plan);
    this.#tests.set(plan, test);
    return test;
  }

  #sent({ plan, progress }: HeldPlan): DeadLetterTest | undefined {
    if (progress === undefined || progress.sent === 0) return undefined;
    const made = this.#tests.get(progress);
    if (made !== undefined) return made;
    const [isMeant, isPassed] = [this.#meant(plan), passedBy(progress)];
    const test: DeadLetterTest = (deadLetter) => isPassed(deadLetter) && isMeant(deadLetter);
    this.#tests.set(progress, test);
    return test;
  }
}

/** The test for places that a replay has passed and did not leave out. */
function passedBy(progress: RecordedProgress): PlaceTest {
  const leftOut = PlaceSet.decode(progress.leftOutPlaces);
  return ({ partition, offset }) =>
    offset < nextOffset(progress, { partition, offset: 0 }) && !leftOut.has(partition, offset);
}

function isPurge({ purpose, startedAtMs }: ReplayPlan): boolean {
  return purpose === "purge" && startedAtMs !== null;
}
