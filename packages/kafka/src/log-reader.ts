/** Reads partitions from an offset on without a consumer group: for tables, read models, and looking back. */
import type { IncomingHeaders } from "@posthaste/contracts/headers";
import type { KafkaConnection } from "./connect.ts";

export interface LogRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestampMs: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: IncomingHeaders;
}

export interface LogReaderOptions {
  readonly topic: string;
  readonly partition: number;
  /** The first offset to read; the log's start when it lies below that. */
  readonly from: number | "start" | "end";
  /** Called with records in offset order, one call at a time; reading goes on when it is finished. */
  readonly onRecords: (records: readonly LogRecord[]) => Promise<void> | void;
  /** `onRecords` failed: a bug of the caller. Reading has stopped. */
  readonly onFailure: (reason: Error) => void;
}

export interface LogReader {
  /** The next offset to read: everything below has been through `onRecords`. */
  readonly position: number;
  /** Resolves when `position` is at `offset` or above; rejects with `closed`. */
  reached(offset: number): Promise<void>;
  close(): Promise<void>;
}

/** Follows one partition until it is closed; a failed broker is waited for. Rejects with `topic_missing`. */
export function followLog(_connection: KafkaConnection, _options: LogReaderOptions): Promise<LogReader> {
  throw new Error("not written");
}
