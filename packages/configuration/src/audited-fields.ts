/** The fields of a thing that the audit has when they change. */
import { createHash } from "node:crypto";
import type { AuditedChange } from "@posthaste/core/access/audit-entry";

/** A secret: the audit says that it changed, and nothing else of it. */
export class Secret {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** Fields by their names; undefined and null count as absent. */
export type AuditedFields = Readonly<Record<string, unknown>>;

/** The most characters of a value; longer ones are cut. */
const MAX_TEXT = 1000;
/** The audit's word in the place of a secret that is set. */
const CHANGED = "changed";

/** The fields that differ. Null stands for a thing that does not exist. */
export function changesBetween(from: AuditedFields | null, to: AuditedFields | null): readonly AuditedChange[] {
  const names = new Set([...Object.keys(from ?? {}), ...Object.keys(to ?? {})]);
  return [...names].flatMap((field) => {
    const [before, after] = [from?.[field], to?.[field]];
    return comparable(before) === comparable(after) ? [] : [{ field, from: shown(before), to: shown(after) }];
  });
}

/** The audit's digest in the place of a user id, since the audit is kept for longer than events are. */
export function userTarget(userId: string): string {
  return `user:${createHash("sha256").update(userId).digest("hex").slice(0, 16)}`;
}

function comparable(value: unknown): string | undefined {
  const of = value instanceof Secret ? value.value : value;
  return of === null ? undefined : JSON.stringify(of);
}

function shown(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (value instanceof Secret) return value.value === null ? null : CHANGED;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
