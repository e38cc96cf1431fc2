/** Audiences and computed traits: traits of users that a customer's own system works out and hands over. */

/** An audience has true or false for each user, by its membership; a computed trait has any JSON value. */
export const AUDIENCE_KINDS = ["audience", "computed_trait"] as const;
export type AudienceKind = (typeof AUDIENCE_KINDS)[number];

/**
 * The lease of an audience: the right to write its records, which one sync has at a time, until it gives the lease up
 * or lets it run out.
 */
export interface SyncLease {
  /** Random text that names the sync. */
  readonly holder: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** The result of the last whole sync. */
export interface SyncSummary {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** How many users came to the audience; for a computed trait, how many values changed. */
  readonly added: number;
  readonly removed: number;
  readonly unchanged: number;
}

/** An audience as control holds it in memory: the newest record of `posthaste.audience-config`. */
export interface Audience {
  readonly id: string;
  /** Rises with every write; a table ignores a lower one (P5). */
  readonly revision: number;
  readonly kind: AudienceKind;
  readonly name: string;
  /** The snake_case form of the name; no other audience of the source has it. */
  readonly trait: string;
  readonly sourceId: string;
  /** The audience's first revision. Records with a lower one belong to a removed audience of this name. */
  readonly bornRevision: number;
  readonly lease: SyncLease | null;
  readonly lastSync: SyncSummary | null;
  /** The audience was removed. Control still removes the trait from its users' records, and then this record. */
  readonly isRemoved: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type LeaseAttempt =
  | { readonly outcome: "taken"; readonly lease: SyncLease }
  /** Another sync has the lease, until `untilMs` unless it asks for more time. */
  | { readonly outcome: "held"; readonly sinceMs: number; readonly untilMs: number };

export interface LeaseRequest {
  readonly holder: string;
  readonly nowMs: number;
  readonly leaseMs: number;
}

/** Takes the lease, or extends it where `holder` has it. A lease that ran out counts as none. */
export function takeLease(current: SyncLease | null, { holder, nowMs, leaseMs }: LeaseRequest): LeaseAttempt {
  const isOwn = current?.holder === holder;
  if (current !== null && !isOwn && current.untilMs > nowMs) {
    return { outcome: "held", sinceMs: current.sinceMs, untilMs: current.untilMs };
  }
  return { outcome: "taken", lease: { holder, sinceMs: isOwn ? current.sinceMs : nowMs, untilMs: nowMs + leaseMs } };
}
