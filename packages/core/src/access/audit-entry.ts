/** A change with its author: a record of `posthaste.audit`. */

/** The ways by which a change can be asked for. */
export const AUDIT_WAYS = ["console", "cli", "api"] as const;
export type AuditWay = (typeof AUDIT_WAYS)[number];

/** The change of one field; null where the field had no value before or has none after. */
export interface AuditedChange {
  readonly field: string;
  readonly from: string | null;
  readonly to: string | null;
}

export interface AuditEntry {
  readonly atMs: number;
  /** The name of the author's token. */
  readonly actor: string;
  /** The id of the author's token; null for the token of the environment. */
  readonly tokenId: string | null;
  readonly way: AuditWay | "other";
  /** The id of the operation in the API's description, such as `changeSource`. */
  readonly operation: string;
  /** The id of the changed object. */
  readonly target: string;
  readonly changes: readonly AuditedChange[];
  readonly requestId: string;
  /**
   * Of the record that is the change; null where the change is no revision of a record, and in entries of earlier
   * releases.
   */
  readonly revision: number | null;
}
