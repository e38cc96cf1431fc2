/** The revisions of a source or a destination, as the configuration's topics have them. */

import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Source } from "@posthaste/core/config/source";
import { type DestinationRevision, destinationFromEntry } from "@posthaste/read-model/destination-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { ConfigRevision, ConfigRevisions } from "./unknown-changes.ts";

/** The most revisions that are looked at, the newest ones. */
const MOST = 500;

export interface ConfigRevisionsParts {
  readonly sources: Pick<ConfigStore<Source>, "get" | "values">;
  readonly readModel: Pick<ReadModel, "newest">;
}

/** Of a source only the newest revision is known: no projection has those before. */
export function configRevisions({ sources, readModel }: ConfigRevisionsParts): ConfigRevisions {
  return {
    of: async (id) => {
      const source = sources.get(id);
      if (source !== undefined) {
        return [{ revision: source.revision, atMs: source.updatedAtMs, isRemoval: false, changes: [] }];
      }
      const query = { destinationId: id, limit: MOST };
      // While the read model cannot be asked, the audit goes without them.
      const entries = await readModel.newest("destination_config", query).catch(() => []);
      return revisionsOf(entries.map(destinationFromEntry));
    },
    newest: async (toMs, limit) => {
      const query = { untilMs: toMs + 1, limit };
      const entries = await readModel.newest("destination_config", query).catch(() => []);
      const ofSources = [...sources.values()].map(({ id, revision, updatedAtMs }) => {
        return { target: id, revision, atMs: updatedAtMs };
      });
      const ofDestinations = entries.map(destinationFromEntry).map(({ destinationId, revision, atMs }) => {
        return { target: destinationId, revision, atMs };
      });
      return [...ofSources.filter(({ atMs }) => atMs <= toMs), ...ofDestinations]
        .sort((one, other) => other.atMs - one.atMs)
        .slice(0, limit);
    },
  };
}

/** A record that tables ignored is left out, since it changed nothing: a late one, or one that was written again. */
function revisionsOf(records: readonly DestinationRevision[]): readonly ConfigRevision[] {
  const revisions: ConfigRevision[] = [];
  let before: DestinationRevision | null = null;
  for (const record of records.toSorted((a, b) => a.offset - b.offset)) {
    if (before !== null && record.revision <= before.revision) continue;
    const { revision, atMs, state } = record;
    revisions.unshift({ revision, atMs, isRemoval: state === "removed", changes: changesSince(before, record) });
    before = record;
  }
  return revisions;
}

function changesSince(before: DestinationRevision | null, { revision, state, sourceIds }: DestinationRevision) {
  if (before === null) return [{ field: "revision", from: null, to: String(revision) }];
  const now = { revision: String(revision), enabled: enabledIn(state), sourceIds: sourcesIn(sourceIds) };
  const then = {
    ...{ revision: String(before.revision), enabled: enabledIn(before.state), sourceIds: sourcesIn(before.sourceIds) },
  };
  const fields = ["revision", "enabled", "sourceIds"] as const;
  return fields
    .filter((field) => now[field] !== then[field])
    .map((field) => ({ field, from: then[field], to: now[field] }));
}

function enabledIn(state: DestinationRevision["state"]): string | null {
  return state === "removed" ? null : String(state === "on");
}

function sourcesIn(sourceIds: readonly string[]): string | null {
  return sourceIds.length === 0 ? null : JSON.stringify(sourceIds);
}
