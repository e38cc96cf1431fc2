import type { JournalEntry } from "./journal-entry.ts";
import { type EntriesByJournal, JOURNAL_NAMES, type JournalName } from "./store.ts";

/** The entries that go to the store in one step. */
export class EntriesStep {
  readonly entries: Partial<Record<JournalName, JournalEntry[]>> = {};
  count = 0;

  add(read: EntriesByJournal): void {
    for (const name of JOURNAL_NAMES) {
      const ofIt = read[name] ?? [];
      if (ofIt.length === 0) continue;
      const held = this.entries[name];
      if (held === undefined) this.entries[name] = [...ofIt];
      else held.push(...ofIt);
      this.count += ofIt.length;
    }
  }
}
