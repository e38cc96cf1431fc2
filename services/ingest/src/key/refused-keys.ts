/**
 * Keys that were refused many times a moment ago.
 *
 * Before an unknown key is refused, it is looked up in a fresh table of sources, since its source may be a moment old.
 * A caller has that for its first tries, and not for tries without end.
 *
 * Owns: the refusals of each key within the current second of that key.
 * RK1  A key is remembered from its tenth refusal within a second to the end of that second.
 * RK2  After any change in the table of sources all keys are forgotten.
 * RK3  At most `MAX_KEYS` keys are held; the oldest are dropped.
 */

export interface RefusedKeys<Refused> {
  /** The refusal of a key that need not be looked up again; else undefined. */
  find(key: string, tableVersion: number): Refused | undefined;
  note(key: string, refused: Refused, tableVersion: number): void;
}

const REFUSALS = 10;
const WINDOW_MS = 1_000;
const MAX_KEYS = 4_096;

interface Entry<Refused> {
  readonly sinceMs: number;
  refusals: number;
  refused: Refused;
}

export function createRefusedKeys<Refused>(monotonicMs: () => number): RefusedKeys<Refused> {
  const entries = new Map<string, Entry<Refused>>();
  let version = 0;

  const entryOf = (key: string, tableVersion: number): Entry<Refused> | undefined => {
    if (tableVersion !== version) entries.clear();
    version = tableVersion;
    const entry = entries.get(key);
    return entry !== undefined && monotonicMs() - entry.sinceMs < WINDOW_MS ? entry : undefined;
  };

  return {
    find: (key, tableVersion) => {
      const entry = entryOf(key, tableVersion);
      return entry !== undefined && entry.refusals >= REFUSALS ? entry.refused : undefined;
    },
    note: (key, refused, tableVersion) => {
      const entry = entryOf(key, tableVersion);
      if (entry !== undefined) {
        entry.refusals++;
        entry.refused = refused;
        return;
      }
      entries.delete(key);
      entries.set(key, { sinceMs: monotonicMs(), refusals: 1, refused });
      const [oldest] = entries.keys();
      if (entries.size > MAX_KEYS && oldest !== undefined) entries.delete(oldest);
    },
  };
}
