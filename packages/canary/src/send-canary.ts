/** Sends a canary event to ingest, as any source would. */

/** How long the call waits for its answer, in ms: longer than ingest waits for the brokers, shorter than a tick. */
const TIMEOUT_MS = 8_000;

export interface CanaryCall {
  readonly ingestUrl: string;
  readonly writeKey: string;
  readonly messageId: string;
  readonly signal: AbortSignal;
}

/**
 * Resolves with null when ingest took the event, else with the reason why it is not known to have. The id stands where
 * the body of the webhook has it too. It is another one each time, so that the events go to all partitions.
 */
export async function sendCanary({ ingestUrl, writeKey, messageId, signal }: CanaryCall): Promise<string | null> {
  const url = new URL(ingestUrl);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/track`;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(`${writeKey}:`).toString("base64")}`,
        "content-type": "application/json",
        "user-agent": "posthaste-canary/1.0",
      },
      body: JSON.stringify({ messageId, anonymousId: messageId, event: "Posthaste canary" }),
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return response.status === 200 ? null : `ingest answers ${response.status}`;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return cause instanceof Error ? cause.message : String(cause);
  }
}
