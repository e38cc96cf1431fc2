/** A body that is sent as it is read, however long it is: `fetch` would hold it to a deadline of its own. */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

export interface UploadOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Lines that were sent so far. */
  readonly onSent: (lines: number) => void;
}

export interface UploadAnswer {
  readonly status: number;
  readonly text: string;
}

const NEWLINE = 0x0a;

/**
 * Puts the chunks and resolves with the answer, which is waited for as long as it takes. An answer that comes before
 * the end is the answer too. Rejects with the error of the connection, or of reading the chunks.
 */
export async function upload({ url, headers, chunks, onSent }: UploadOptions): Promise<UploadAnswer> {
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  const outgoing = request(url, { method: "PUT", headers });
  const { promise: answered, resolve, reject } = Promise.withResolvers<UploadAnswer>();
  const sending = new AbortController();
  outgoing.on("response", (response: IncomingMessage) => {
    text(response)
      .then((body) => resolve({ status: response.statusCode ?? 0, text: body }), reject)
      // Bytes that are not sent yet change nothing of the answer.
      .finally(() => sending.abort());
  });
  outgoing.on("error", reject);
  pipeline(counted(chunks, onSent), outgoing, { signal: sending.signal }).catch(reject);
  return await answered;
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  onSent: (lines: number) => void,
): AsyncGenerator<Uint8Array> {
  let lines = 0;
  for await (const chunk of chunks) {
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
    yield chunk;
    onSent(lines);
  }
}
