/**
 * Sets the compatibility that the registry demands of a new schema of a subject: it can read the records of all earlier
 * schemas, since records in a topic, or somebody else's consumer, may be older than the last schema.
 */
import { COMPATIBILITY } from "@kafkajs/confluent-schema-registry";
import { isJsonObject } from "@posthaste/core/call/json-fragment";
import type { Log } from "@posthaste/core/log";

import type { Registry } from "./registry-client.ts";

export interface CompatibilityOptions {
  readonly registry: Pick<Registry, "ask" | "host">;
  readonly log: Log;
}

/** Levels that are as strict as the wanted level or stricter; a subject keeps them. */
const STRICT: ReadonlySet<unknown> = new Set([COMPATIBILITY.BACKWARD_TRANSITIVE, COMPATIBILITY.FULL_TRANSITIVE]);

/**
 * Returns the level to register a schema with. It first raises a subject with a lower level to BACKWARD_TRANSITIVE.
 * Where the registry refuses to change the level, the subject keeps it and the log says so. Rejects with the answer's
 * `status` when the registry cannot be asked.
 */
export async function settleCompatibility(
  subject: string,
  { registry, log }: CompatibilityOptions,
): Promise<COMPATIBILITY> {
  const path = pathOf(subject);
  const found = levelOf(await registry.ask("GET", path));
  // For a subject without a level, the registry's client sets one after it has registered the first schema.
  if (found === undefined) return COMPATIBILITY.BACKWARD_TRANSITIVE;
  if (STRICT.has(found)) return found;
  const { status } = await registry.ask("PUT", path, { compatibility: COMPATIBILITY.BACKWARD_TRANSITIVE });
  if (status === 200) return COMPATIBILITY.BACKWARD_TRANSITIVE;
  if (status >= 500) throw refused(status);
  log.warn({ event: "compatibility_not_raised", registry: registry.host, subject, level: found, status });
  return found;
}

/**
 * Whether the subject takes only schemas that read the records of every earlier one; false where it has no level of its
 * own. Rejects with the answer's `status` when the registry cannot be asked.
 */
export async function hasCompatibility(subject: string, registry: Pick<Registry, "ask">): Promise<boolean> {
  return STRICT.has(levelOf(await registry.ask("GET", pathOf(subject))));
}

function pathOf(subject: string): string {
  return `/config/${encodeURIComponent(subject)}`;
}

function levelOf({ status, body }: Awaited<ReturnType<Registry["ask"]>>): COMPATIBILITY | undefined {
  if (status === 404) return undefined;
  if (status !== 200 || !isJsonObject(body)) throw refused(status);
  const level = String(body["compatibilityLevel"]).toUpperCase();
  return Object.values(COMPATIBILITY).find((each) => each === level);
}

function refused(status: number): Error & { readonly status: number } {
  return Object.assign(new Error(`the registry answered ${status}`), { status });
}
