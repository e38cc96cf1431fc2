/** Calling ingest as a plain HTTP client does. */

export interface Call {
  readonly type: string;
  readonly messageId?: string;
  readonly [field: string]: unknown;
}

/** Sends calls as one batch, once. Answers the status, or 0 when there was no answer. */
export async function sendBatch(ingestUrl: string, writeKey: string, batch: readonly Call[]): Promise<number> {
  return post(ingestUrl, "/v1/batch", writeKey, { batch });
}

/** Sends one call to its own path, once. Answers the status, or 0 when there was no answer. */
export async function sendOne(ingestUrl: string, writeKey: string, { type, ...call }: Call): Promise<number> {
  return post(ingestUrl, `/v1/${type}`, writeKey, call);
}

async function post(ingestUrl: string, path: string, writeKey: string, body: object): Promise<number> {
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
