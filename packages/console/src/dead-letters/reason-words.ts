/** Reasons of dead letters in words. */
import type { DeadLetterGroupPage } from "../api/api-types.ts";

type Reason = DeadLetterGroupPage["data"][number]["reason"];

/** `window expired`. */
export function reasonWords(reason: Reason): string {
  return reason.replaceAll("_", " ");
}
