/** Calling ingest as a plain HTTP client does. */
import { eventually } from "@posthaste/testkit/eventually";
import { expect } from "vitest";

export interface Call {
  readonly type: string;
  readonly messageId?: string;
  readonly [field: string]: unknown;
}

/**
 * As a client does: a call that is answered 503 is sent again, as it is where a busy broker does not acknowledge in
 * time. A call that was taken all the same is known by its message id.
 */
const AGAIN_FOR_MS = 30_000;
const PAUSE_MS = 200;

/** Sends calls as one batch. Returns the status, or 0 when there was no answer. */
export async function sendBatch(ingestUrl: string, writeKey: string, batch: readonly Call[]): Promise<number> {
  return post(ingestUrl, "/v1/batch", writeKey, { batch });
}

/** Sends one call to its own path. Returns the status, or 0 when there was no answer. */
export async function sendOne(ingestUrl: string, writeKey: string, { type, ...call }: Call): Promise<number> {
  return post(ingestUrl, `/v1/${type}`, writeKey, call);
}

async function post(ingestUrl: string, path: string, writeKey: string, body: object): Promise<number> {
  const untilMs = performance.now() + AGAIN_FOR_MS;
  for (;;) {
    const status = await postOnce(ingestUrl, path, writeKey, body);
    if (status !== 503 || performance.now() > untilMs) return status;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function postOnce(ingestUrl: string, path: string, writeKey: string, body: object): Promise<number> {
  try {
    const response = await fetch(`${ingestUrl}${path}`, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(`${writeKey}:`).toString("base64")}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

/** Track calls of fifty users, so that each partition and process has some; their message ids are `name-number`. */
export const callsOf = (name: string, from: number, count: number) =>
  Array.from({ length: count }, (_, index): Call & { messageId: string } => ({
    type: "track",
    userId: `user-${(from + index) % 50}`,
    event: "Ordered",
    messageId: `${name}-${from + index}`,
  }));

/** Sends a batch again until it is taken, as a real client does: for a minute at the most. */
export const sendUntilTaken = (ingestUrl: string, writeKey: string, calls: readonly Call[]) =>
  eventually(async () => expect(await sendBatch(ingestUrl, writeKey, calls)).toBe(200), {
    timeoutMs: 60_000,
    intervalMs: 100,
  });
