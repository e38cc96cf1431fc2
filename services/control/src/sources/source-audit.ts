/** The fields of a source that the audit records. */
import type { Source } from "@posthaste/core/config/source";
import { type AuditedFields, Secret } from "../audit/audited-fields.ts";

export function sourceAudit({ name, kind, enabled, writeKeys }: Source): AuditedFields {
  return { name, kind, enabled, writeKeys: new Secret(writeKeys) };
}
