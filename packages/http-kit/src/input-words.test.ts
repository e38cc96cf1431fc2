import { destinationInput, destinationPatch, nextSecretInput } from "@posthaste/core/config/destination-settings";
import { sourceInput, sourcePatch, writeKeyRotationInput } from "@posthaste/core/config/source-settings";
import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { checkInput, Problem } from "./problem.ts";

/** The refusal of the input; undefined where it is taken. */
function problemOf(schema: z.ZodType, value: unknown): Problem | undefined {
  try {
    checkInput(schema, value);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The error message for the input; undefined for a valid input. */
const refusalOf = (schema: z.ZodType, value: unknown) => problemOf(schema, value)?.message;

it("names a field that is not known, and those that are", () => {
  const schema = z.strictObject({ url: z.string(), headers: z.string().optional() });
  expect(refusalOf(schema, { url: "x", color: "red" })).toBe('unknown field "color"; expected url, headers');
  expect(refusalOf(schema, { url: "x", a: 1, b: 2 })).toBe('unknown fields "a", "b"; expected url, headers');
  expect(refusalOf(z.strictObject({}), { a: 1 })).toBe('unknown field "a"; there are none here');
});

it.each([
  [z.string(), 1, "expected text"],
  [z.boolean(), "yes", "expected true or false"],
  [z.number(), "1", "expected a number"],
  [z.int(), 1.5, "expected a whole number"],
  [z.array(z.string()), {}, "expected a list"],
  [z.object({}), [], "expected an object"],
  [z.object({ name: z.string() }), {}, "name: expected text; it is missing"],
  [z.int().min(0), -1, "expected 0 or more"],
  [z.int().max(9), 10, "expected 9 at the most"],
])("says what is expected in our words (%#)", (schema, value, words) => {
  expect(refusalOf(schema, value)).toBe(words);
});

const SCHEMAS = {
  destinationInput,
  destinationPatch,
  nextSecretInput,
  sourceInput,
  sourcePatch,
  writeKeyRotationInput,
};
/** The beginnings of zod's own error messages. */
const ZODS_WORDS = /Invalid |Unrecognized |Too (?:big|small)|received |NaN/;
const CALLERS_WORDS = /"(?:[^"\\]|\\.)*"/g;

/** The message of each fault without the caller's own words: neither the fault's place nor any quoted text. */
function saidOfFaults(schema: z.ZodType, value: unknown): string {
  const errors = problemOf(schema, value)?.errors ?? [];
  return errors.map(({ message }) => message.replaceAll(CALLERS_WORDS, '""')).join("; ");
}

it.each(["NaN", "received ", 'a "NaN" \\"'])("does not take the caller's %j for words of zod's", (key) => {
  expect(saidOfFaults(z.strictObject({}), { [key]: 1 })).toBe('unknown field ""; there are none here');
  expect(saidOfFaults(z.record(z.string(), z.string()), { [key]: 1 })).toBe("expected text");
});

/** Bodies with the fields that there are, each of them perhaps of another kind. */
const body = (names: readonly string[]) =>
  fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...names, "colour"), fc.jsonValue({ maxDepth: 2 })));

it.each(Object.entries(SCHEMAS))("leaves no words of zod's in a refusal of %s", (_, schema) => {
  const property = fc.property(body(Object.keys(schema.shape)), (value) => {
    expect(saidOfFaults(schema, value)).not.toMatch(ZODS_WORDS);
  });
  fc.assert(property, { numRuns: 300 });
});

it("leaves no words of zod's in a refusal of settings", () => {
  const { settings } = destinationInput.shape;
  const property = fc.property(body(Object.keys(settings.shape)), (value) => {
    expect(saidOfFaults(settings, value)).not.toMatch(ZODS_WORDS);
  });
  fc.assert(property, { numRuns: 300 });
});
