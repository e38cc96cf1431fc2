/** Finding sources that have to be there. */

import type { ConfigStore } from "@posthaste/configuration/config-store";
import { OPERATIONS_SOURCE, type Source } from "@posthaste/core/config/source";
import { invalidInput, Problem } from "@posthaste/http-kit/problem";

/**
 * The table of sources, which also looks in the topic for a source that it has not heard of (NH1 of late-records.ts).
 */
export type FindSources = Pick<ConfigStore<Source>, "find">;

/** Rejects with the Problem `not_found`. */
export async function sourceOf(id: string, sources: FindSources): Promise<Source> {
  return findSource(await sources.find(id), id);
}

/** Throws the Problem `not_found`. */
export function findSource(source: Source | undefined, id: string): Source {
  if (source === undefined) throw new Problem("not_found", `there is no source ${id}`);
  return source;
}

/** Refuses input whose `sourceIds` name a source that does not exist, or the source of operations beside others. */
export async function assertSources(ids: readonly string[], sources: FindSources): Promise<void> {
  const isOfOperations = ids.includes(OPERATIONS_SOURCE.id);
  if (isOfOperations && ids.length === 1) return;
  if (isOfOperations) {
    const message = `${OPERATIONS_SOURCE.id} stands alone: give operational events a destination of their own`;
    throw invalidInput([{ path: "sourceIds", message }]);
  }
  const found = await Promise.all(ids.map((id) => sources.find(id)));
  const errors = ids.flatMap((id, index) =>
    found[index] === undefined ? [{ path: `sourceIds[${index}]`, message: `there is no source ${id}` }] : [],
  );
  if (errors.length > 0) throw invalidInput(errors);
}
