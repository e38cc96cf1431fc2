/**
 * Keys that were refused again and again a moment ago.
 *
 * A key that is not known is looked for in the table of sources before it is refused, since it may be a moment old.
 * That holds for the first tries of a caller, and not for a caller that tries without end.
 * RK1  A key is remembered from its tenth refusal in a second to that second's end.
 * RK2  Whatever changes in the table of sources, all are forgotten.
 * RK3  At most some thousands are held; the oldest give way.
 */

export interface RefusedKeys<Refused> {
  /** What a key was refused with, when it need not be looked for again. */
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
