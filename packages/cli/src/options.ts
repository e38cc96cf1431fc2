/** Parsers of option values; what they throw names the option and what was expected. */
import { InvalidArgumentError } from "commander";

/** `a,b` and repetition both add up. */
export function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  const added = text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  return [...(before ?? []), ...added];
}

/** Repetition adds up; commas stand for themselves, as in a URL. */
export function append(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError("Expected a whole number from 1 up.");
}

/** A number, or the word `none`; commander takes a null for an option without a value. */
export function numberOrNone(text: string): number | "none" {
  if (text === "none") return "none";
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("Expected a number, or none.");
}

/** Keys whose value is not undefined: a PATCH leaves out what was not named. */
export function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
