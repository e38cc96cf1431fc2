/** Sends a canary event to ingest, as any source would. */
import { callIngest, type IngestCall } from "@posthaste/runtime/ingest-call";

export interface CanaryCall extends Pick<IngestCall, "ingestUrl" | "writeKey"> {
  readonly signal: AbortSignal;
  readonly messageId: string;
}

/**
 * Resolves with null when ingest took the event, else with the reason why it is not known to have. The id stands where
 * the body of the webhook has it too. It is another one each time, so that the events go to all partitions.
 */
export async function sendCanary({ messageId, ...of }: CanaryCall): Promise<string | null> {
  const call = { messageId, anonymousId: messageId, event: "Posthaste canary" };
  return (await callIngest({ ...of, type: "track", call, agent: "posthaste-canary/1.0" })).message;
}
