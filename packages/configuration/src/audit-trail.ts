/**
 * Makes the audit record of a change, with its author and fields, for the same send as the change itself. Neither is
 * acknowledged without the other.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { AuditEntry } from "@posthaste/core/access/audit-entry";
import type { Author } from "@posthaste/core/access/author";
import type { Clock } from "@posthaste/core/time";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import { type AuditedFields, changesBetween } from "./audited-fields.ts";

export interface AuditTrailOptions {
  readonly topic: string;
  readonly codec: Pick<Codec<AuditEntry>, "encode">;
  readonly clock: Clock;
}

export interface Audited {
  /** The id of the changed thing. */
  readonly target: string;
  /** The fields before and after; null where the thing did not exist then. */
  readonly from: AuditedFields | null;
  readonly to: AuditedFields | null;
  /** Of the record that is the change; absent where there is none. */
  readonly revision?: number | undefined;
}

export class AuditTrail {
  readonly #options: AuditTrailOptions;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
  }

  /** The records for the change's send; none for a change that control makes by itself. */
  recordsOf(by: Author | null, { target, from, to, revision }: Audited): readonly OutgoingRecord[] {
    if (by === null) return [];
    const { topic, codec, clock } = this.#options;
    const { caller, operation, requestId } = by;
    const value = codec.encode({
      ...{ atMs: clock.nowMs(), actor: caller.name, tokenId: caller.tokenId, way: caller.way },
      ...{ operation, target, changes: changesBetween(from, to), requestId, revision: revision ?? null },
    });
    return [{ topic, key: target, value }];
  }
}
