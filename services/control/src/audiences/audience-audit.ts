/** What of an audience or a computed trait stands in the audit: of a sync how many users changed, not who. */
import type { Audience } from "@posthaste/core/audience/audience";
import type { AuditedFields } from "../audit/audited-fields.ts";

/** One that was removed has nothing, as if its record were gone. */
export function audienceAudit({ kind, name, trait, sourceId, lastSync, isRemoved }: Audience): AuditedFields {
  return isRemoved ? {} : { kind, name, trait, sourceId, lastSync };
}
