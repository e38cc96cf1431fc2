/** Calls that ingest did not accept, as `posthaste.rejected-calls` has them. */

/** One entry of `schemas/rejected-calls.avsc`. */
export interface RejectedCallEntry {
  readonly rejectedAtMs: number;
  readonly code: string;
  readonly message: string;
  /** The call's index in its batch; 0 for a single call. */
  readonly index: number;
  readonly callJson: string;
  /** The call's own, shortened (`shortName`); null where it has none, or was not parsed. */
  readonly messageId: string | null;
  /** The call's user id, else its anonymous id, shortened; null where it has neither. */
  readonly userKey: string | null;
  /** The call's event name, else its page's or screen's name, shortened; null where it has none. */
  readonly event: string | null;
  /** True for a call that came by itself, false for one of a batch. Null in an entry from before this field. */
  readonly single: boolean | null;
}

/** One record of `posthaste.rejected-calls`. */
export interface RejectedCalls {
  readonly sourceId: string;
  readonly calls: readonly RejectedCallEntry[];
}
