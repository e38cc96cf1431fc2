/** Whether a plan names a dead letter (RP1 of `replay.ts`), a replay sent it, or a purge took it. */
import { type LetterFacts, letterCheck } from "@posthaste/core/replay/letter-filter";
import { nextOffset } from "@posthaste/core/replay/replay";
import type { ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { LetterTopic } from "./letter-topic.ts";
import { PlaceSet } from "./place-set.ts";
import type { HeldPlan, ReplayStore } from "./replay-store.ts";

export type LetterTest = (letter: LetterFacts) => boolean;

/** The letters that were counted when the plan was made. */
export function meantBy({ filter, ranges, leftOutPlaces }: ReplayPlan): LetterTest {
  const fits = letterCheck(filter);
  const leftOut = PlaceSet.decode(leftOutPlaces);
  return (letter) => {
    const { partition, offset } = letter;
    const range = ranges.find((each) => each.partition === partition);
    if (range === undefined || offset < range.start || offset >= range.end) return false;
    return fits(letter) && !leftOut.has(partition, offset);
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
    const [isMeant, leftOut] = [this.#meant(plan), PlaceSet.decode(progress.leftOutPlaces)];
    const test: LetterTest = (letter) => {
      const { partition, offset } = letter;
      if (offset >= nextOffset(progress, { partition, offset: 0 })) return false;
      return isMeant(letter) && !leftOut.has(partition, offset);
    };
    this.#tests.set(progress, test);
    return test;
  }
}

function isPurge({ purpose, startedAtMs }: ReplayPlan): boolean {
  return purpose === "purge" && startedAtMs !== null;
}
