/** The counts that ingest keeps of a source, as `posthaste.source-activity` has them. */

/** The source id of requests without a write key, or with a key that no source has. */
export const UNKNOWN_SOURCE_ID = "unknown";

/** A sample: one of the few requests each minute that are kept of those that were refused as a whole. */
export interface RefusedRequest {
  readonly atMs: number;
  readonly status: number;
  readonly code: string;
  /** The request's path, without the query. */
  readonly path: string;
  /** The length of the body as it was sent, in bytes; null where the request did not name it. */
  readonly bytes: number | null;
  readonly userAgent: string | null;
  /** The message ids in the body, in its order, shortened (`shortName`); empty where the body was not read. */
  readonly messageIds: readonly string[];
  /** For a key that no source has: its first four characters and the beginning of its SHA-256. Null otherwise. */
  readonly unknownKey: string | null;
}

/** One record of `posthaste.source-activity`: one process's counts of one source within some seconds. */
export interface SourceActivity {
  readonly sourceId: string;
  /** The name that the counting process drew at its start. */
  readonly instance: string;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** How many calls were accepted. */
  readonly accepted: number;
  /** When the last call was accepted; null when none was. */
  readonly lastAcceptedMs: number | null;
  /**
   * How many calls were refused one by one, by code, while the rest of their request was accepted or refused by itself.
   */
  readonly rejected: Readonly<Record<string, number>>;
  /** How many requests were refused as a whole, by code. */
  readonly refused: Readonly<Record<string, number>>;
  readonly samples: readonly RefusedRequest[];
}
