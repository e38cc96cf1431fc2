/** The parts with which a page of the console is tested: its four states, by control's answers in each. */
import type { FakeAnswers } from "../fake-control.ts";

/** The part of an answer that a test gives; the rest of it is nothing to the page. */
export type Said<Answer> = Answer extends readonly (infer Each)[]
  ? readonly Said<Each>[]
  : Answer extends object
    ? { readonly [Key in keyof Answer]?: Said<Answer[Key]> }
    : Answer;

export interface TestedPage {
  /** Its address as src/routes.tsx has it. */
  readonly route: string;
  /** One that leads to it. */
  readonly path: string;
  readonly title: string;
  /** The first read, such as `GET /v1/sources`. */
  readonly reads: string;
  readonly empty: FakeAnswers;
  readonly live: FakeAnswers;
  /** Texts that stand on it when it is live. */
  readonly shows: readonly string[];
}
