/** What ingest counted of a source, as `posthaste.source-activity` has it. */

/** The source of what names no source: requests without a key, or with one that nobody has. */
export const UNKNOWN_SOURCE_ID = "unknown";

/** A request that was refused as a whole, one of a few that are told of each minute. */
export interface RefusedRequest {
  readonly atMs: number;
  readonly status: number;
  readonly code: string;
  /** Of the address, without the query. */
  readonly path: string;
  /** Of the body as it was sent; null where the request did not say. */
  readonly bytes: number | null;
  readonly userAgent: string | null;
  /** Those that the body names, in its order, shortened (`shortName`); none where it was not read. */
  readonly messageIds: readonly string[];
  /** Of a key that no source has: its first four characters, and the beginning of its SHA-256. */
  readonly unknownKey: string | null;
}

/** One record of `posthaste.source-activity`: one source at one process, for some seconds. */
export interface SourceActivity {
  readonly sourceId: string;
  /** The process that counted, by an id of its own. */
  readonly instance: string;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Calls that were taken. */
  readonly accepted: number;
  /** When the last of them was taken; null for none. */
  readonly lastAcceptedMs: number | null;
  /** Calls that were not taken while their request was read, by code. */
  readonly rejected: Readonly<Record<string, number>>;
  /** Requests that were refused as a whole, by code. */
  readonly refused: Readonly<Record<string, number>>;
  readonly samples: readonly RefusedRequest[];
}
