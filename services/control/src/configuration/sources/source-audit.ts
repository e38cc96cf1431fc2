/** The fields of a source that the audit records. */

import { type AuditedFields, Secret } from "@posthaste/configuration/audited-fields";
import type { Source } from "@posthaste/core/config/source";

export function sourceAudit({ name, kind, enabled, writeKeys }: Source): AuditedFields {
  return { name, kind, enabled, writeKeys: new Secret(writeKeys) };
}
