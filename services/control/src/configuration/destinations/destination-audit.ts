/** The fields of a destination that the audit records. */

import { type AuditedFields, Secret } from "@posthaste/configuration/audited-fields";
import type { Destination } from "@posthaste/core/config/destination";
import { secretStage } from "@posthaste/core/config/secret-rotation";

export function destinationAudit(destination: Destination): AuditedFields {
  const {
    id: _id,
    revision: _revision,
    createdAtMs: _created,
    updatedAtMs: _updated,
    missingKeyIds: _missing,
    ...rest
  } = destination;
  const { secrets, urls, ...settings } = rest;
  const { active, next, previous } = secrets;
  return {
    ...settings,
    urls: urls.map(({ url, headers }) => ({ url, headers: Object.keys(headers) })),
    headerValues: new Secret(urls.some(({ headers }) => Object.keys(headers).length > 0) ? urls : null),
    sharedSecret: new Secret(active === null && next === null && previous === null ? null : secrets),
    secretStage: secretStage(secrets),
  };
}
