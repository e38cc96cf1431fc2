/** What of an audience or a computed trait stands in the audit: of a sync how many users changed, not who. */
import type { Audience } from "@posthaste/core/audience/audience";
import type { AuditedFields } from "../audit/audited-fields.ts";

export function audienceAudit({ kind, name, trait, sourceId, lastSync }: Audience): AuditedFields {
  return { kind, name, trait, sourceId, lastSync };
}
