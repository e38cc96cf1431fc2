/** Who changed what: a record of `posthaste.audit`. */

/** By what a change was asked for. */
export const AUDIT_WAYS = ["console", "cli", "api"] as const;
export type AuditWay = (typeof AUDIT_WAYS)[number];

/** One field's change; null where there was nothing, or is nothing more. */
export interface AuditedChange {
  readonly field: string;
  readonly from: string | null;
  readonly to: string | null;
}

export interface AuditEntry {
  readonly atMs: number;
  /** The name of the token. */
  readonly actor: string;
  /** Null for the token of the environment. */
  readonly tokenId: string | null;
  readonly way: AuditWay | "other";
  /** As in the API's description: `changeSource`. */
  readonly operation: string;
  /** The id of what was changed. */
  readonly target: string;
  readonly changes: readonly AuditedChange[];
  readonly requestId: string;
}
