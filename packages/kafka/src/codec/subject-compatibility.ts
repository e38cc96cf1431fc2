/**
 * What the registry asks of a new schema of a subject: that it reads what all before it wrote, since a topic, or a
 * consumer of somebody else's, may be older than the last schema.
 */
import { COMPATIBILITY } from "@kafkajs/confluent-schema-registry";
import { isJsonObject } from "@posthaste/core/call/json-fragment";
import type { Log } from "@posthaste/core/log";

import type { Registry } from "./registry-client.ts";

export interface CompatibilityOptions {
  readonly registry: Pick<Registry, "ask" | "host">;
  readonly log: Log;
}

/** At least as strict as what is wanted: whoever chose it keeps it. */
const STRICT: ReadonlySet<unknown> = new Set([COMPATIBILITY.BACKWARD_TRANSITIVE, COMPATIBILITY.FULL_TRANSITIVE]);

/**
 * The level to register with; a subject of a lower one is raised to BACKWARD_TRANSITIVE first. Where the registry does
 * not let that be changed, it stays, and the log says so. Rejects with the answer's `status` when the registry cannot
 * be asked.
 */
export async function settleCompatibility(
  subject: string,
  { registry, log }: CompatibilityOptions,
): Promise<COMPATIBILITY> {
  const path = `/config/${encodeURIComponent(subject)}`;
  const found = levelOf(await registry.ask("GET", path));
  // The registry's client sets the level of a subject that has none, after it registered its first schema.
  if (found === undefined) return COMPATIBILITY.BACKWARD_TRANSITIVE;
  if (STRICT.has(found)) return found;
  const { status } = await registry.ask("PUT", path, { compatibility: COMPATIBILITY.BACKWARD_TRANSITIVE });
  if (status === 200) return COMPATIBILITY.BACKWARD_TRANSITIVE;
  if (status >= 500) throw refused(status);
  log.warn({ event: "compatibility_not_raised", registry: registry.host, subject, level: found, status });
  return found;
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
