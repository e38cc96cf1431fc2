/** What of a source stands in the audit. */
import type { Source } from "@posthaste/core/config/source";
import { type AuditedFields, Secret } from "../audit/audited-fields.ts";

export function sourceAudit({ name, kind, enabled, writeKeys }: Source): AuditedFields {
  return { name, kind, enabled, writeKeys: new Secret(writeKeys) };
}
