/**
 * The fields of an audience or a computed trait that the audit has: for a sync, how many users changed, and not who.
 */

import type { AuditedFields } from "@posthaste/configuration/audited-fields";
import type { Audience } from "@posthaste/core/audience/audience";

/** A removed audience has no fields, as if its record were gone. */
export function audienceAudit({ kind, name, trait, sourceId, lastSync, isRemoved }: Audience): AuditedFields {
  return isRemoved ? {} : { kind, name, trait, sourceId, lastSync };
}
