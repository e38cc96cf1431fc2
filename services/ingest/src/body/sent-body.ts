/** A request's body before it is inflated or parsed. */

/** A body as it was sent. */
export interface SentBody {
  /** The bytes; null once they were given back, when nobody waits for an answer any more (RB3 of read-body.ts). */
  readonly bytes: Buffer | null;
  /** The body's Content-Encoding, which `bytes` still have. */
  readonly encoding: string | undefined;
}
