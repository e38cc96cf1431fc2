/**
 * When the text of each token was last used, to a minute.
 *
 * Owns: the uses that this process saw. The access store has those that any process wrote.
 * TU1  A use is written when the last use that was written is a minute old; no request waits for that.
 * TU2  The answer is the newer of the use that this process saw and the use that any process wrote.
 */
import { type AccessRecord, USE_NOTE_MS } from "@posthaste/core/access/access-record";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { AccessStore } from "./access-store.ts";

export interface TokenUsesOptions {
  readonly store: Pick<AccessStore, "records">;
  readonly clock: Clock;
  readonly log: Log;
}

export class TokenUses {
  readonly #options: TokenUsesOptions;
  /** The last use of each token, in ms since the epoch. */
  readonly #seenMs = new Map<string, number>();
  /** The tokens whose use is being written. */
  readonly #noted = new Set<string>();

  constructor(options: TokenUsesOptions) {
    this.#options = options;
  }

  /** Notes that the token is used now. */
  note(token: AccessRecord): void {
    const { store, clock, log } = this.#options;
    const nowMs = clock.nowMs();
    this.#seenMs.set(token.id, nowMs);
    const written = store.records.get(idOf(token.id))?.usedAtMs ?? null;
    if ((written !== null && nowMs < written + USE_NOTE_MS) || this.#noted.has(token.id)) return;
    this.#noted.add(token.id);
    store.records
      .change(
        idOf(token.id),
        (current, revision) => ({
          ...(current ?? useOf(token)),
          ...{ revision, usedAtMs: Math.max(nowMs, current?.usedAtMs ?? 0) },
        }),
        null,
      )
      .catch((error: unknown) => log.warn({ event: "token_use_not_written", err: error }))
      .finally(() => this.#noted.delete(token.id));
  }

  /** TU2. Null for never, as far as that is known. */
  usedAtMs(tokenId: string): number | null {
    const written = this.#options.store.records.get(idOf(tokenId))?.usedAtMs ?? null;
    const seen = this.#seenMs.get(tokenId) ?? null;
    return written === null || seen === null ? (written ?? seen) : Math.max(written, seen);
  }

  /** Forgets tokens that were revoked. */
  forgetRevoked(): void {
    for (const id of this.#seenMs.keys()) {
      if (this.#options.store.records.get(id) === undefined) this.#seenMs.delete(id);
    }
  }
}

/** The id of a token's use record, one for each token. */
function idOf(tokenId: string): string {
  return `use_${tokenId}`;
}

function useOf({ id, name, createdBy, createdAtMs }: AccessRecord): Omit<AccessRecord, "revision" | "usedAtMs"> {
  return {
    ...{ id: idOf(id), kind: "use", name, hash: null, scopes: [], tokenId: id, adminMark: null },
    ...{ createdAtMs, createdBy, expiresAtMs: null },
  };
}
