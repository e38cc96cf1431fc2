/**
 * The sources by their write keys.
 *
 * Owns: an index over the table of sources, which follows the table's changes.
 * WK1  A key is found by a salted digest, and then compared in constant time, so that the time of a look-up says
 *      nothing of how much of a guess was right. The salt is this process's own.
 * WK2  Every live key of a source finds it; a key that was rotated out does until it expires.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Source } from "@posthaste/core/config/source";

export interface WriteKeys {
  /** Notes the newest state of a source; `undefined` removes it. */
  apply(sourceId: string, source: Source | undefined): void;
  /** The source that has the key at this moment, enabled or not. */
  find(key: string, nowMs: number): Source | undefined;
  /** A number that rises with each change. */
  readonly version: number;
}

interface Entry {
  readonly source: Source;
  readonly key: Buffer;
  readonly expiresAtMs: number | null;
}

/** The longest text that is hashed; no write key is nearly as long. */
export const MAX_KEY_LENGTH = 1024;

export function createWriteKeys(): WriteKeys {
  let version = 0;
  const salt = randomBytes(16).toString("hex");
  const entries = new Map<string, Entry>();
  const digestsOf = new Map<string, readonly string[]>();
  const digest = (key: string) => hash("sha256", salt + key, "base64");

  return {
    apply: (sourceId, source) => {
      version++;
      for (const stale of digestsOf.get(sourceId) ?? []) {
        if (entries.get(stale)?.source.id === sourceId) entries.delete(stale);
      }
      digestsOf.delete(sourceId);
      if (source === undefined) return;
      for (const { key, expiresAtMs } of source.writeKeys) {
        entries.set(digest(key), { source, key: Buffer.from(key), expiresAtMs });
      }
      digestsOf.set(
        sourceId,
        source.writeKeys.map(({ key }) => digest(key)),
      );
    },
    find: (key, nowMs) => {
      if (key.length > MAX_KEY_LENGTH) return undefined;
      const entry = entries.get(digest(key));
      if (entry === undefined || !isEqual(entry.key, key)) return undefined;
      return entry.expiresAtMs === null || nowMs < entry.expiresAtMs ? entry.source : undefined;
    },
    get version() {
      return version;
    },
  };
}

function isEqual(known: Buffer, given: string): boolean {
  const bytes = Buffer.from(given);
  return bytes.length === known.length && timingSafeEqual(bytes, known);
}
