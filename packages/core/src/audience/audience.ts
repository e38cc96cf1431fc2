/** An audience or a computed trait: a trait of users that somebody else works out and hands over. */

/** An audience says true or false of a user, by who is in it; a computed trait any JSON value. */
export const AUDIENCE_KINDS = ["audience", "computed_trait"] as const;
export type AudienceKind = (typeof AUDIENCE_KINDS)[number];

/** The right to write an audience's records, which one sync has at a time, until it gives it up or lets it run out. */
export interface SyncLease {
  /** Drawn by the sync; nobody else has it. */
  readonly holder: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** What the last whole sync came to. */
export interface SyncSummary {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Of a computed trait: users whose value changed. */
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
  /** The snake_case form of the name; no other of the source has it. */
  readonly trait: string;
  readonly sourceId: string;
  /** The revision that it was made with: what has a lower one is of an audience of this name that was removed. */
  readonly bornRevision: number;
  readonly lease: SyncLease | null;
  readonly lastSync: SyncSummary | null;
  /** It was removed; what its users' records hold of it goes still, and then this record. */
  readonly isRemoved: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type LeaseAttempt =
  | { readonly outcome: "taken"; readonly lease: SyncLease }
  /** Another sync has it, until then at the latest, unless it asks for more time. */
  | { readonly outcome: "held"; readonly sinceMs: number; readonly untilMs: number };

export interface LeaseRequest {
  readonly holder: string;
  readonly nowMs: number;
  readonly leaseMs: number;
}

/** Takes the lease, or more time where `holder` has it. One that ran out is as good as none. */
export function takeLease(current: SyncLease | null, { holder, nowMs, leaseMs }: LeaseRequest): LeaseAttempt {
  const isOwn = current?.holder === holder;
  if (current !== null && !isOwn && current.untilMs > nowMs) {
    return { outcome: "held", sinceMs: current.sinceMs, untilMs: current.untilMs };
  }
  return { outcome: "taken", lease: { holder, sinceMs: isOwn ? current.sinceMs : nowMs, untilMs: nowMs + leaseMs } };
}
