/**
 * The canary's own source and destination, under ids that follow from the process's origin: a process that starts again
 * finds them and changes nothing.
 */
import type { ConfigRecord, ConfigStore } from "@posthaste/configuration/config-store";
import type { CanaryIds } from "@posthaste/contracts/canary-ids";
import { type Destination, WEBHOOKS } from "@posthaste/core/config/destination";
import { DEFAULT_SETTINGS } from "@posthaste/core/config/destination-change";
import type { Source } from "@posthaste/core/config/source";
import { createWriteKey } from "@posthaste/http-kit/identifiers";

/** The part of a config store that has the canary's own records, which no other reader sees. */
export type OwnRecords<T extends ConfigRecord> = Pick<ConfigStore<T>, "hidden" | "change">;

export interface CanaryConfiguration {
  readonly ids: CanaryIds;
  /** The address at which the destination gets its events. */
  readonly url: string;
  readonly sources: OwnRecords<Source>;
  readonly destinations: OwnRecords<Destination>;
  readonly nowMs: () => number;
}

/** Writes the records that are missing. Resolves with true where none was. */
export async function ensureConfigured(options: CanaryConfiguration): Promise<boolean> {
  const { ids, url, sources, destinations } = options;
  const [source, destination] = [sources.hidden(ids.sourceId), destinations.hidden(ids.destinationId)];
  const [hasSource, hasDestination] = [writeKeyOf(source) !== null, isUsable(destination, ids, url)];
  // The destination first: an event of a source without one would go nowhere.
  if (!hasDestination) {
    await destinations.change(
      ids.destinationId,
      (current, revision) => newDestination(current, revision, options),
      null,
    );
  }
  if (!hasSource) {
    await sources.change(ids.sourceId, (_, revision) => newSource(revision, options), null);
  }
  return hasSource && hasDestination;
}

/** The key to send with; null where there is none. */
export function writeKeyOf(source: Source | undefined): string | null {
  if (source === undefined || !source.enabled) return null;
  return source.writeKeys.find(({ expiresAtMs }) => expiresAtMs === null)?.key ?? null;
}

function isUsable(destination: Destination | undefined, ids: CanaryIds, url: string): boolean {
  if (destination === undefined || destination.missingKeyIds !== null) return false;
  const { enabled, sourceIds, secrets, urls } = destination;
  const isConnected = sourceIds.length === 1 && sourceIds[0] === ids.sourceId;
  return enabled && isConnected && secrets.active !== null && urls.length === 1 && urls[0]?.url === url;
}

/** A secret that this process cannot open is replaced. */
function newDestination(
  current: Destination | undefined,
  revision: number,
  { ids, url, nowMs }: CanaryConfiguration,
): Destination {
  const isKept = current !== undefined && current.missingKeyIds === null && current.secrets.active !== null;
  const secrets = isKept ? current.secrets : { active: createWriteKey(), next: null, previous: null };
  return {
    ...DEFAULT_SETTINGS,
    ...{ id: ids.destinationId, revision, type: WEBHOOKS, name: "Canary", enabled: true },
    ...{ sourceIds: [ids.sourceId], secrets, urls: [{ url, headers: {} }], missingKeyIds: null },
    ...{ responseLog: "off", createdAtMs: nowMs(), updatedAtMs: nowMs() },
  };
}

function newSource(revision: number, { ids, nowMs }: CanaryConfiguration): Source {
  return {
    ...{ id: ids.sourceId, revision, name: "Canary", kind: "server", enabled: true },
    ...{ writeKeys: [{ key: createWriteKey(), expiresAtMs: null }], createdAtMs: nowMs(), updatedAtMs: nowMs() },
  };
}
