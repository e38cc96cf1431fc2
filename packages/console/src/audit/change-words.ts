/** Changes in words. */
import type { AuditPage } from "../api/api-types.ts";

export type Change = AuditPage["data"][number];

/** By the client that asked for it. */
export const WAY_WORDS: Readonly<Record<Change["way"], string>> = {
  console: "the console",
  cli: "the command line",
  api: "the API",
  other: "a way that this page does not know",
  unknown: "a record that was written past control",
};

/** `changeSource` as words: change source. */
export function operationWords(operation: string): string {
  return operation.replace(/([A-Z])/g, (deadLetter) => ` ${deadLetter.toLowerCase()}`);
}

type Deed = Pick<Change, "operation" | "target" | "changes">;

/** The deed in the past tense, and its object: `turned on Warehouse`, `sent a delivery to Billing again`. */
export function deedWords(change: Deed, nameOf: (id: string) => string): string {
  const of = targetWords(change, nameOf);
  const [verb = ""] = change.operation.split(/(?=[A-Z])/);
  const deed = DEEDS[switched(change) ?? verb] ?? `${operationWords(change.operation)}: NAME`;
  return of === null ? deed.replace(" of NAME", "") : deed.replace("NAME", () => of);
}

/**
 * The name of the changed object: as the lists have it, as the change says it, or else the kind of thing. Null where
 * nothing is known of it.
 */
function targetWords({ operation, target, changes }: Deed, nameOf: (id: string) => string): string | null {
  const changed = (name: string): string | null => {
    const change = changes.find(({ field }) => field === name);
    return change?.to ?? change?.from ?? null;
  };
  const id = changed("destinationId") ?? /"destinationId":"(\w+)"/.exec(changed("filter") ?? "")?.[1] ?? null;
  // A filter that names no destination is of all; an entry of an earlier release has no filter.
  if (id === null && OF_DEAD_LETTERS.test(operation)) return changed("filter") === null ? null : "several destinations";
  const known = nameOf(id ?? target);
  if (known !== (id ?? target)) return known;
  return changed("name") ?? KINDS.find(([prefix]) => known.startsWith(prefix))?.[1] ?? known;
}

/** Where nothing but that was changed. */
function switched({ operation, changes: [only, ...others] }: Deed): "turnOn" | "turnOff" | null {
  if (!operation.startsWith("change") || only?.field !== "enabled" || others.length > 0) return null;
  return only.to === "true" ? "turnOn" : "turnOff";
}

const OF_DEAD_LETTERS = /^(?:replay|purge)/;

/** By the first word of the operation. */
const DEEDS: Readonly<Record<string, string>> = {
  turnOn: "turned on NAME",
  turnOff: "turned off NAME",
  create: "made NAME",
  change: "changed NAME",
  remove: "removed NAME",
  revoke: "revoked NAME",
  rotate: "rotated the key of NAME",
  resend: "sent a delivery to NAME again",
  replay: "replayed dead letters of NAME",
  purge: "purged dead letters of NAME",
  pause: "paused NAME",
  resume: "resumed NAME",
  cancel: "cancelled NAME",
  name: "named the next secret of NAME",
  switch: "switched the secret of NAME",
  retire: "retired the old secret of NAME",
  undo: "undid a step of the secret's rotation of NAME",
  set: "synced NAME",
  end: "ended the suppression of NAME",
  reproduce: "produced NAME again",
};

/** For objects without a name, or without one any more: an id says no more to a reader. */
const KINDS = [
  ["dst_", "a destination"],
  ["src_", "a source"],
  ["tok_", "a token"],
  ["aud_", "an audience"],
  ["rpl_", "a replay"],
  ["del_", "a deletion request"],
  ["rsd_", "a destination"],
  ["user:", "a user"],
  ["unreadable", "unreadable records"],
] as const;
