/** Work of parsing keys with escapes, by characters looked at and copied, and not by the clock. */
import { afterEach, expect, it } from "vitest";
import { MAX_STAND_INS, parseJson } from "./parse-json.ts";

type Method = (this: unknown, ...args: readonly unknown[]) => unknown;
/** The letters or elements that a call looks at. */
type Cost = (self: unknown, args: readonly unknown[], result: unknown) => number;

const lengthOf = (value: unknown) => (value as ArrayLike<unknown>).length;
const whole: Cost = (self) => lengthOf(self);
const copied: Cost = (_self, _args, result) => lengthOf(result);
const forwards: Cost = (self, [, from], result) =>
  (result === -1 ? lengthOf(self) : Number(result)) - Number(from ?? 0);
const backwards: Cost = (self, [, from], result) => Number(from ?? lengthOf(self)) - Number(result);

const COSTS: readonly (readonly [object, Readonly<Record<string, Cost>>])[] = [
  [
    String.prototype,
    { indexOf: forwards, lastIndexOf: backwards, slice: copied, substring: copied, split: whole, matchAll: whole },
  ],
  [String.prototype, { includes: whole, search: whole, match: whole, replace: whole, replaceAll: whole }],
  [
    Array.prototype,
    { indexOf: whole, lastIndexOf: whole, includes: whole, find: whole, findIndex: whole, findLast: whole },
  ],
  [Array.prototype, { some: whole, every: whole, filter: whole, map: whole, slice: copied, concat: copied }],
];

let restores: (() => void)[] = [];
afterEach(() => {
  for (const restore of restores) restore();
  restores = [];
});

/** The characters looked at and copied while a text is parsed. */
function workOf(text: string): number {
  let work = 0;
  for (const [prototype, costs] of COSTS) {
    const methods = prototype as Record<string, Method>;
    for (const [name, cost] of Object.entries(costs)) {
      const original = methods[name] as Method;
      restores.push(() => {
        methods[name] = original;
      });
      methods[name] = function (...args) {
        const result = original.apply(this, args as unknown[]);
        work += cost(this, args, result);
        return result;
      };
    }
  }
  parseJson(text);
  const done = work;
  for (const restore of restores) restore();
  restores = [];
  return done;
}

const objectOf = (keys: readonly string[]) => `{${keys.map((key) => `"${key}":0`).join(",")}}`;
const listOf = (keys: readonly string[]) => `[${keys.map((key) => `{"${key}":0}`).join(",")}]`;
const keysOf = (count: number, written: string) => Array.from({ length: count }, (_, index) => `${written}k${index}`);

it.each([
  ["keys that an encoder chose to escape", "\\u0061", 4_000],
  ["keys that need an escape", "\\n", MAX_STAND_INS / 2],
  ["keys of the letters that stand-ins begin with", "\\ue000", MAX_STAND_INS / 2],
])("takes for twice as many %s twice as much, in one object and in many", (_what, written, count) => {
  for (const textOf of [objectOf, listOf]) {
    const once = workOf(textOf(keysOf(count, written)));
    expect(once).toBeGreaterThan(count);
    expect(workOf(textOf(keysOf(2 * count, written)))).toBeLessThan(2.5 * once);
  }
});
