import type { ProjectionEntry } from "./projection-entry.ts";
import { type EntriesByProjection, PROJECTION_NAMES, type ProjectionName } from "./store.ts";

/** The entries that go to the store in one step. */
export class EntriesStep {
  readonly entries: Partial<Record<ProjectionName, ProjectionEntry[]>> = {};
  count = 0;

  add(read: EntriesByProjection): void {
    for (const name of PROJECTION_NAMES) {
      const ofIt = read[name] ?? [];
      if (ofIt.length === 0) continue;
      const held = this.entries[name];
      if (held === undefined) this.entries[name] = [...ofIt];
      else held.push(...ofIt);
      this.count += ofIt.length;
    }
  }
}
