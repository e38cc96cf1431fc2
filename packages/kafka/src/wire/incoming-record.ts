/** A record as the readers of this package hand it on, in a group or without one. */
import type { IncomingHeaders } from "@posthaste/contracts/headers";

export interface IncomingRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Ms since the epoch; the broker's time of writing in a LogAppendTime topic, the producer's elsewhere. */
  readonly timestampMs: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: IncomingHeaders;
}
