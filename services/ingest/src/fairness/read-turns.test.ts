import { setImmediate as nextRound } from "node:timers/promises";
import { beforeEach, expect, it } from "vitest";
import { MAX_WAITING_BODIES, READ_PIECE_BYTES, READ_ROUND_BYTES } from "../limits.ts";
import { createReadTurns, type ReadTurns } from "./read-turns.ts";

const TURNS = READ_ROUND_BYTES / READ_PIECE_BYTES;

let turns: ReadTurns;
let gone: string[];
beforeEach(() => {
  turns = createReadTurns();
  gone = [];
});

const wait = (name: string, source: string | null = name) => {
  // Work that a test leaves waiting goes on after it.
  const into = gone;
  turns.wait(source, () => into.push(name));
};

it("BT1: lets all be read until a round has its part, and then none until the next", async () => {
  turns.count(READ_ROUND_BYTES - 1);
  expect(turns.mustWait()).toBe(false);
  turns.count(1);
  expect(turns.mustWait()).toBe(true);
  await nextRound();
  expect(turns.mustWait()).toBe(false);
});

it("BT1: begins each round with its whole part, also while none waits", async () => {
  for (let round = 0; round < 3; round++) {
    turns.count(READ_ROUND_BYTES - 1);
    expect(turns.mustWait()).toBe(false);
    await nextRound();
  }
});

it("BT2: reads on as many in a round as are expected to give its part, the longest waiting first", async () => {
  const names = Array.from({ length: 2 * TURNS + 1 }, (_, n) => `${n}`);
  for (const name of names) wait(name, "a");
  expect(gone).toEqual([]);
  for (const count of [TURNS, 2 * TURNS, 2 * TURNS + 1]) {
    await nextRound();
    expect(gone).toEqual(names.slice(0, count));
  }
});

it.each([
  ["a source", "many"],
  ["strangers", null],
])("BT2: reads on the sources in turns, however many bodies of %s wait", async (_who, source) => {
  for (let body = 0; body < 100; body++) wait("many", source);
  for (let body = 0; body < 3; body++) wait("few");
  await nextRound();
  expect(gone.slice(0, 6).sort()).toEqual(["few", "few", "few", "many", "many", "many"]);
  expect(gone.slice(6)).toEqual(Array(TURNS - 6).fill("many"));
});

it("BT3: lets no more wait than may", async () => {
  turns.count(READ_ROUND_BYTES);
  for (let body = 0; body < MAX_WAITING_BODIES; body++) {
    expect(turns.mustWait()).toBe(true);
    wait("a");
  }
  expect(turns.mustWait()).toBe(false);
  await nextRound();
  turns.count(READ_ROUND_BYTES);
  expect(turns.mustWait()).toBe(true);
});
