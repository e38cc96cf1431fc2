/** The input about audiences, computed traits, and their users that the control API accepts. */
import { z } from "zod";
import { isJsonObject, MAX_NESTING, toFragment } from "../call/json-fragment.ts";
import { ILL_FORMED_ID, isWellFormedId } from "../call/well-formed.ts";
import { nameInput } from "../config/source-settings.ts";
import { traitNameOf } from "./trait-name.ts";

/** The most characters of a value as JSON: half of a call's limit. */
const MAX_VALUE_LENGTH = 16_384;
/** How deep a value may nest: it stands in the traits, and those in the body. */
const VALUE_LEVELS = MAX_NESTING - 2;
/** The most users that one PATCH names; more are uploaded as a whole membership. */
const MAX_PATCHED = 10_000;

/** A name that a trait's name can be made of. */
export const audienceNameInput = nameInput.refine((name) => traitNameOf(name) !== null, {
  message: "a name needs a letter or a digit: the trait's name is made of them",
});

export const audienceInput = z.strictObject({
  name: audienceNameInput,
  sourceId: z.string("name the source that the identifies are of").describe("The source that the identifies are of."),
});

const LONG_ID = "a user id has at most 8192 characters";

export const userIdInput = z
  .union([z.string(), z.int()], "expected a user id: a text, or a whole number")
  .refine(isWellFormedId, ILL_FORMED_ID)
  .transform(String)
  .pipe(z.string().min(1, "a user id is needed").max(8192, LONG_ID));

const TOO_MANY = `at most ${MAX_PATCHED} users at a time: divide them, or say the whole membership`;
const userIds = z.array(userIdInput).max(MAX_PATCHED, TOO_MANY).default([]);

export const membersPatch = z
  .strictObject({ add: userIds.describe("Who is in it from now on."), remove: userIds.describe("Who is not.") })
  .superRefine(({ add, remove }, context) => {
    const added = new Set(add);
    remove.forEach((userId, index) => {
      if (added.has(userId)) context.addIssue({ code: "custom", path: ["remove", index], message: "is added as well" });
    });
  });

/** Any JSON value, as a fragment whose objects have their keys in order, so that equal values have equal text. */
export const traitValueInput = z.unknown().transform((value, context): string => {
  const json = value === undefined ? null : toFragment(value, VALUE_LEVELS);
  if (json !== null && json.length <= MAX_VALUE_LENGTH) return JSON.stringify(value, inOrder);
  const message = json === null ? "expected a JSON value that nests no deeper" : "a value has at most 16 KB of JSON";
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});

function inOrder(_: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

export const computedTraitInput = z.strictObject({
  sourceId: audienceInput.shape.sourceId,
  values: z
    .record(z.string().min(1, "a user id is needed").max(8192, LONG_ID), z.unknown())
    .describe("User id to value, any JSON."),
});
