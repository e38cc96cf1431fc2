/** An answer that is read as it comes, and the trailers behind its end, of which `fetch` tells nothing. */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { CliError, EXIT } from "./exit-code.ts";

export interface DownloadOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Until the answer begins. */
  readonly timeoutMs: number;
}

/** Resolves when the answer begins; rejects with the connection's error, or a `TimeoutError`. */
export async function beginDownload({ url, headers, timeoutMs }: DownloadOptions): Promise<IncomingMessage> {
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = request(url, { headers });
  const timer = setTimeout(() => outgoing.destroy(new DOMException("no answer", "TimeoutError")), timeoutMs);
  outgoing.on("error", reject);
  outgoing.on("response", (response) => {
    const { statusCode = 0 } = response;
    if (statusCode < 300 || statusCode >= 400) return resolve(response);
    // The token is for this server and no other.
    outgoing.destroy();
    reject(new Error(`it answers ${statusCode}, a redirection, which is not followed`));
  });
  outgoing.end();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** The bytes of an answer; throws CliError where they break off. */
export async function* wholeOf(response: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* response;
  } catch (cause) {
    throw new CliError(EXIT.failed, "the answer broke off in the middle: what came is not all", { cause });
  }
}

export async function textOf(response: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
