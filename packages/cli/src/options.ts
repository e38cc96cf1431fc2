/** Parsers of option values; their errors name the option and the expected value. */
import { InvalidArgumentError } from "commander";
import { parseDuration } from "./duration.ts";

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

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError("Expected a number above 0.");
}

/** A number, or the word `none`; commander takes a null for an option without a value. */
export function numberOrNone(text: string): number | "none" {
  if (text === "none") return "none";
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("Expected a number, or none.");
}

/** Keys whose value is not undefined: a PATCH leaves out fields that were not named. */
export function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * A moment as the API takes it: `10m` counts back from now; ISO 8601 stands for itself, without a zone as local time.
 */
export function moment(text: string): string {
  const agoMs = parseDuration(text);
  if (agoMs !== undefined) return new Date(Date.now() - agoMs).toISOString();
  const atMs = /^\d{4}-\d{2}-\d{2}(T|$)/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(atMs)) return new Date(atMs).toISOString();
  throw new InvalidArgumentError("Expected how long ago, such as 10m, or a moment, such as 2026-11-21T10:00:00Z.");
}

/** A duration such as `30s`, in ms. */
export function millisecondsOf(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError("Expected a duration such as 500ms, 10s or 2m.");
}

/** An address of http or https. */
export function httpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError("Expected a URL such as http://127.0.0.1:3000/hook.");
}

/** The query of a list: the named options, under the API's names. */
export function queryOf(fields: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
