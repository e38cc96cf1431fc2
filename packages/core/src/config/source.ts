/** A source: something that sends calls, known by its write key. */

export const SOURCE_KINDS = ["web", "mobile", "server"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/**
 * The source of operational events: control makes them of how destinations are. Nothing is configured for it, and it
 * has no key; a destination that names it gets them, and gets nothing else.
 */
export const OPERATIONS_SOURCE = { id: "src_operations", name: "Operations of Posthaste" } as const;

/** A key that ingest accepts for a source until a moment, or for good. */
export interface WriteKey {
  readonly key: string;
  /** Ms since the epoch after which the key is refused; null for the current key. */
  readonly expiresAtMs: number | null;
}

/** A source as services hold it in memory: the newest record of `posthaste.source-config`. */
export interface Source {
  readonly id: string;
  /** Rises with every write; a table ignores a lower one (P5). */
  readonly revision: number;
  readonly name: string;
  readonly kind: SourceKind;
  readonly enabled: boolean;
  /** The current key first, then those that were rotated out and still live. */
  readonly writeKeys: readonly WriteKey[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
