import type { IncomingMessage, ServerResponse } from "node:http";
import { beforeEach, expect, it } from "vitest";
import { inTurns, PER_TURN } from "./request-turns.ts";

let handed: string[];
let turns: (() => void)[];
let come: (name: string, address?: string) => { destroyed: boolean };

beforeEach(() => {
  [handed, turns] = [[], []];
  const listener = inTurns(
    ({ url = "" }) => handed.push(url),
    (begin) => turns.push(begin),
  );
  come = (url, remoteAddress = "a") => {
    const socket = { destroyed: false, remoteAddress };
    listener({ url, socket } as unknown as IncomingMessage, {} as ServerResponse);
    return socket;
  };
});

/** Begins the next turn; false where none was asked for. */
function nextTurn(): boolean {
  const begin = turns.shift();
  begin?.();
  return begin !== undefined;
}

it("QT1: hands on some requests at once, and the others in the turns after, in their order", () => {
  const names = Array.from({ length: 2 * PER_TURN + 3 }, (_, at) => String(at));
  for (const name of names) come(name);
  expect(handed).toEqual(names.slice(0, PER_TURN));
  nextTurn();
  expect(handed).toEqual(names.slice(0, 2 * PER_TURN));
  come("late");
  nextTurn();
  expect(handed).toEqual([...names, "late"]);
  expect([nextTurn(), nextTurn()]).toEqual([true, false]);
  come("alone");
  expect(handed.at(-1)).toBe("alone");
});

it("QT1: an address waits for no more than one turn behind the requests of another", () => {
  for (let at = 0; at < 100 * PER_TURN; at++) come("many", "a");
  come("few 1", "b");
  come("few 2", "b");
  nextTurn();
  expect(handed.slice(PER_TURN, PER_TURN + 4)).toEqual(["many", "few 1", "many", "few 2"]);
});

it("QT2: a request whose connection was cut off is not handed on, and takes no place of another", () => {
  for (let at = 0; at < PER_TURN; at++) come("first");
  for (let at = 0; at < 50; at++) come("cut off").destroyed = true;
  come("last");
  nextTurn();
  expect(handed.slice(PER_TURN)).toEqual(["last"]);
});
