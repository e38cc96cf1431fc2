/** Calls that ingest did not accept, as `posthaste.rejected-calls` has them. */

/** One entry of `schemas/rejected-calls.avsc`. */
export interface RejectedCallEntry {
  readonly rejectedAtMs: number;
  readonly code: string;
  readonly message: string;
  /** Place in its batch; 0 for a single call. */
  readonly index: number;
  readonly callJson: string;
  /** As the call says it, shortened (`shortName`); null where it says none, or was not parsed. */
  readonly messageId: string | null;
  /** The user id, else the anonymous id, as the call says it, shortened; null for neither. */
  readonly userKey: string | null;
  /** The event's name, else the page's or screen's, as the call says it, shortened; null for none. */
  readonly event: string | null;
  /** A call of its own; false for one of a batch. Null in an entry from before this field. */
  readonly single: boolean | null;
}

/** One record of `posthaste.rejected-calls`. */
export interface RejectedCalls {
  readonly sourceId: string;
  readonly calls: readonly RejectedCallEntry[];
}
