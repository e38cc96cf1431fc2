/** What is known of a body before anything is made of it. */

/** A body as it was sent. */
export interface SentBody {
  /** Null once the bytes were given back: nobody waits for an answer any more (RB3 of read-body.ts). */
  readonly bytes: Buffer | null;
  /** Its Content-Encoding, which was not undone yet. */
  readonly encoding: string | undefined;
}
