/** The kind of a source, as the API has it, and in words. */
import type { Source } from "../../api/api-types.ts";

export type Kind = Source["kind"];

export const KINDS: readonly (readonly [Kind, string])[] = [
  ["web", "a website"],
  ["mobile", "an app"],
  ["server", "a server"],
];
