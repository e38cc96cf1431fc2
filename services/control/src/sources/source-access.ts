/** Finding sources that have to be there. */
import type { Source } from "@posthaste/core/config/source";
import type { ConfigStore } from "../config-store/config-store.ts";
import { invalidInput, Problem } from "../http/problem.ts";

/** Throws the Problem `not_found`. */
export function findSource(source: Source | undefined, id: string): Source {
  if (source === undefined) throw new Problem("not_found", `there is no source ${id}`);
  return source;
}

/** Refuses input whose `sourceIds` name a source that does not exist. */
export function assertSources(ids: readonly string[], sources: ConfigStore<Source>): void {
  const errors = ids.flatMap((id, index) =>
    sources.get(id) === undefined ? [{ path: `sourceIds[${index}]`, message: `there is no source ${id}` }] : [],
  );
  if (errors.length > 0) throw invalidInput(errors);
}
