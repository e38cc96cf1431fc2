/** Damages of the texts and questions of the console's pages, each noticed by a story in the process. */
import { damagesOf } from "./damages-of.mjs";

const PAGES = "packages/console/src/pages";
const TEST = "packages/console/test";

const review = damagesOf(`${PAGES}/replay/review-page.tsx`, `${TEST}/replays.test.ts`);
const groups = damagesOf(`${PAGES}/replay/plan-counts.tsx`, `${TEST}/replays.test.ts`);
const live = damagesOf("packages/console/src/live/live.ts", `${TEST}/paused.test.ts`);

/** @type {typeof import("./damages.mjs").DAMAGES} */
export const CONSOLE = [
  review(
    "a review counts more dead letters than it sends",
    `<strong>{matched.toLocaleString("en-GB")}</strong>`,
    `<strong>{(matched + 1).toLocaleString("en-GB")}</strong>`,
  ),
  groups("a review leaves out its smaller groups", "{reported < matched && (", "{false && ("),
  live(
    "a page asks again while it is paused",
    `return useLiveState().state === "paused" ? false : ms;`,
    "useLiveState();\n  return ms;",
  ),
];
