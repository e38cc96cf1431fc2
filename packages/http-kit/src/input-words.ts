/**
 * The messages for input that a schema refuses without a message of its own. Zod's messages name its own types and
 * options, which a caller of the API has never heard of.
 */
import { z } from "zod";

/** The plain words for the expected type, by zod's name of the type. */
const EXPECTED: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
};

/** The words for an issue; undefined leaves it to zod. Fits the `error` of a parse. */
export function inputWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "unrecognized_keys":
      return unknownFields(issue.keys, issue.inst);
    case "invalid_type": {
      const expected = `expected ${EXPECTED[issue.expected] ?? issue.expected}`;
      return issue.input === undefined ? `${expected}; it is missing` : expected;
    }
    case "invalid_key":
      return issue.issues[0]?.message;
    case "too_small":
      return `expected ${issue.minimum} or more`;
    case "too_big":
      return `expected ${issue.maximum} at the most`;
    default:
      return undefined;
  }
}

/** `unknown field "color"; the fields here are url and headers`. */
function unknownFields(names: readonly string[], schema: unknown): string {
  const unknown = names.map((name) => JSON.stringify(name)).join(", ");
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const fields = names.length === 1 ? "field" : "fields";
  if (known.length === 0) return `unknown ${fields} ${unknown}; there are none here`;
  return `unknown ${fields} ${unknown}; expected ${known.join(", ")}`;
}
