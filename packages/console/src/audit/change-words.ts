/** Changes in words. */
import type { AuditPage } from "../api/api-types.ts";

export type Change = AuditPage["data"][number];

/** By the client that asked for it. */
export const WAY_WORDS: Readonly<Record<Change["way"], string>> = {
  console: "console",
  cli: "command line",
  api: "API",
  other: "another client",
  unknown: "not through control",
};

type FieldChange = Change["changes"][number];

/** The audit's word in place of a secret. */
const SECRET = "changed";

/** `settings.sharedSecret` as words: shared secret. */
export function fieldWords(field: string): string {
  return operationWords(field.replace(/^settings\./, "").replace(/Ids?$/, "")).replace(/\burls?\b/, "URLs");
}

/** The value before and after; the new one alone where there was none before. */
export function valueWords({ from, to }: FieldChange, nameOf: (id: string) => string): string {
  if (from === SECRET && to === SECRET) return "changed";
  const [before, after] = [partWords(from, nameOf), partWords(to, nameOf)];
  return from === null ? after : `${before} → ${after}`;
}

/** A value as it was sent; an object or a list by its parts, an id by its name. */
function partWords(value: string | null, nameOf: (id: string) => string): string {
  if (value === null) return "none";
  if (!/^[[{]/.test(value)) return nameOf(value);
  try {
    return partsOf(JSON.parse(value), nameOf);
  } catch {
    // A long value was cut by control.
    return value;
  }
}

function partsOf(value: unknown, nameOf: (id: string) => string): string {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map((each) => partsOf(each, nameOf)).join(", ");
  if (typeof value !== "object" || value === null) return nameOf(String(value));
  const parts = Object.entries(value).filter(([, part]) => !isNothing(part));
  if (parts.length === 0) return "none";
  const [[name, part]] = parts as [[string, unknown]];
  if (parts.length === 1 && name === "url") return partsOf(part, nameOf);
  return parts.map(([key, each]) => `${fieldWords(key)} ${partsOf(each, nameOf)}`).join(", ");
}

function isNothing(part: unknown): boolean {
  return part === null || (typeof part === "object" && Object.keys(part).length === 0);
}

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

/** Where nothing but that was changed: the deed says it all. */
export function switched({ operation, changes: [only, ...others] }: Deed): "turnOn" | "turnOff" | null {
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
