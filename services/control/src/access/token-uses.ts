/**
 * When tokens were last used as texts, to a minute.
 *
 * Owns: the uses that this process saw; what all of them saw stands in the access store.
 * TU1  A use is written when the last one that was is a minute old; nobody waits for that.
 * TU2  What is told is the newest of what this process saw and of what any wrote.
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
  /** By token, ms since the epoch; as many as there are tokens. */
  readonly #seenMs = new Map<string, number>();
  /** Tokens whose use is being written. */
  readonly #noted = new Set<string>();

  constructor(options: TokenUsesOptions) {
    this.#options = options;
  }

  /** The token was used now. */
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

  /** TU2: null for never, as far as that is known. */
  usedAtMs(tokenId: string): number | null {
    const written = this.#options.store.records.get(idOf(tokenId))?.usedAtMs ?? null;
    const seen = this.#seenMs.get(tokenId) ?? null;
    return written === null || seen === null ? (written ?? seen) : Math.max(written, seen);
  }

  /** Forgets tokens that are no more. */
  forgetRevoked(): void {
    for (const id of this.#seenMs.keys()) {
      if (this.#options.store.records.get(id) === undefined) this.#seenMs.delete(id);
    }
  }
}

/** One record for each token. */
function idOf(tokenId: string): string {
  return `use_${tokenId}`;
}

function useOf({ id, name, createdBy, createdAtMs }: AccessRecord): Omit<AccessRecord, "revision" | "usedAtMs"> {
  return {
    ...{ id: idOf(id), kind: "use", name, hash: null, scopes: [], tokenId: id, adminMark: null },
    ...{ createdAtMs, createdBy, expiresAtMs: null },
  };
}
