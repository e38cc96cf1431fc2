/** Changes in words. */
import type { AuditPage } from "../api/api-types.ts";

export type Change = AuditPage["data"][number];

/** By what it was asked for. */
export const WAY_WORDS: Readonly<Record<Change["way"], string>> = {
  console: "the console",
  cli: "the command line",
  api: "the API",
  other: "a way that this page does not know",
};

/** `changeSource` as words: change source. */
export function operationWords(operation: string): string {
  return operation.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** What was done, in the past, before the name of what it was done to: "turned on", "made". */
export function deedWords({ operation, changes }: Pick<Change, "operation" | "changes">): string {
  const [only, ...others] = changes;
  if (operation.startsWith("change") && only?.field === "enabled" && others.length === 0) {
    return only.to === "true" ? "turned on" : "turned off";
  }
  const [verb = ""] = operation.split(/(?=[A-Z])/);
  return DEEDS[verb] ?? operationWords(operation);
}

const DEEDS: Readonly<Record<string, string>> = {
  create: "made",
  change: "changed",
  remove: "removed",
  revoke: "revoked",
  rotate: "rotated the key of",
  resend: "sent a delivery again, as",
  replay: "replayed dead letters of",
  name: "named the next secret of",
  switch: "switched the secret of",
  retire: "retired the old secret of",
  undo: "undid a step of the secret's rotation of",
};
