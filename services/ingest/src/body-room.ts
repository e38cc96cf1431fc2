/**
 * The room that the bodies of all requests share.
 *
 * Owns the count of bytes that are held, and since when there was no room for more.
 * M1  What is held is never more than `maxBytes`; what does not fit is not taken.
 * M2  The room is full from the first taking that it refuses until a quarter of it is free again: what is refused again and
 *     again while a few bytes come and go is one time of being full.
 */

export interface BodyRoom {
  /** False when so much more does not fit; nothing is taken then. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
  readonly heldBytes: number;
  /** For how many ms the room has been full (M2); 0 while it is not. */
  fullForMs(): number;
}

export interface BodyRoomOptions {
  readonly maxBytes: number;
  /** Ms, never going back. */
  readonly monotonicMs: () => number;
}

/** Of what may be held, below which the room counts as free again. */
const FREE_AGAIN = 3 / 4;

export function createBodyRoom({ maxBytes, monotonicMs }: BodyRoomOptions): BodyRoom {
  let heldBytes = 0;
  let fullSinceMs: number | null = null;

  return {
    take: (bytes) => {
      if (heldBytes + bytes > maxBytes) {
        fullSinceMs ??= monotonicMs();
        return false;
      }
      heldBytes += bytes;
      return true;
    },
    giveBack: (bytes) => {
      heldBytes -= bytes;
      if (heldBytes <= maxBytes * FREE_AGAIN) fullSinceMs = null;
    },
    get heldBytes() {
      return heldBytes;
    },
    fullForMs: () => (fullSinceMs === null ? 0 : monotonicMs() - fullSinceMs),
  };
}
