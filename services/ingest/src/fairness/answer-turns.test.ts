import { setImmediate as nextRound } from "node:timers/promises";
import { beforeEach, expect, it } from "vitest";
import { ANSWERS_ROUND_MS } from "../limits.ts";
import { type AnswerTurns, createAnswerTurns } from "./answer-turns.ts";

let nowMs: number;
let turns: AnswerTurns;
let written: string[];
beforeEach(() => {
  nowMs = 0;
  turns = createAnswerTurns(() => nowMs);
  written = [];
});

/** An answer that takes a part of a round's time to write. */
const answer = (source: string | null, part: number) =>
  turns.write(source, () => {
    nowMs += part * ANSWERS_ROUND_MS;
    written.push(source ?? "stranger");
  });

it("AN2: are written at once while the round has time and none waits", async () => {
  answer("a", 0.5);
  answer(null, 0.5);
  expect(written).toEqual(["a", "stranger"]);
  answer("a", 0.1);
  expect(written).toHaveLength(2);
  await nextRound();
  expect(written).toEqual(["a", "stranger", "a"]);
  answer("a", 0.1);
  expect(written).toHaveLength(4);
});

it("AN1: are written for a round's time and one more, and then others are heard", async () => {
  for (let each = 0; each < 8; each++) answer("a", 0.8);
  for (const count of [2, 4, 6, 8]) {
    expect(written).toHaveLength(count);
    await nextRound();
  }
});

it("AN2: of a source that has few come before those of another that wait", async () => {
  for (let each = 0; each < 8; each++) answer("many", 0.8);
  answer("few", 0.1);
  await nextRound();
  expect(written.slice(2)).toEqual(["few", "many", "many"]);
  for (let round = 0; round < 3; round++) await nextRound();
  expect(written).toHaveLength(9);
});

it("AN2: of a source that are cheap come more often than another's, as long as they take together", async () => {
  answer(null, 1);
  for (let each = 0; each < 3; each++) answer("dear", 0.8);
  for (let each = 0; each < 6; each++) answer("cheap", 0.2);
  await nextRound();
  expect(written.slice(1)).toEqual(["dear", "cheap"]);
  await nextRound();
  expect(written.slice(3)).toEqual(["cheap", "cheap", "cheap", "dear"]);
});
