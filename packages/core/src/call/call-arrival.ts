/** The arrival of a call. */
import type { SharedContext, SharedIntegrations } from "./shared-fields.ts";

/**
 * The facts about a call that ingest knows beside the call itself: source, time, address, and the fields of its batch.
 */
export interface CallArrival {
  readonly sourceId: string;
  readonly receivedAtMs: number;
  /**
   * The batch's `sentAt`, which is nearer to the moment of sending than a call's own; null where the batch has none.
   */
  readonly sentAtMs: number | null;
  /** The batch's `context` and `integrations`: each key stands in every call that does not have it. */
  readonly context: SharedContext | null;
  readonly integrations: SharedIntegrations | null;
  /** The caller's address and `User-Agent`, for calls that do not name them. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly makeMessageId: () => string;
}
