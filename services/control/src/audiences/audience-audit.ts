/**
 * The fields of an audience or a computed trait that the audit has: for a sync, how many users changed, and not who.
 */
import type { Audience } from "@posthaste/core/audience/audience";
import type { AuditedFields } from "../audit/audited-fields.ts";

/** A removed audience has no fields, as if its record were gone. */
export function audienceAudit({ kind, name, trait, sourceId, lastSync, isRemoved }: Audience): AuditedFields {
  return isRemoved ? {} : { kind, name, trait, sourceId, lastSync };
}
