/** One request to the server, by `fetch`. */
import type { Environment } from "./environment.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Attempt } from "./retry.ts";

/** Browsers let a request outlive its page up to 64 KiB, all of them together. */
const MAX_OUTLIVING_BYTES = 30_000;

/** Sends one body and returns the result; never rejects. Aborting `signal` makes it a failure at once. */
export type Transport = (body: string, signal: AbortSignal) => Promise<Attempt>;

export function createTransport(options: ResolvedOptions, environment: Environment): Transport {
  const url = `${options.endpoint}/v1/batch`;
  const headers: Record<string, string> = {
    authorization: `Basic ${toBase64(`${options.writeKey}:`)}`,
    "content-type": "application/json",
  };
  if (options.gzip) headers["content-encoding"] = "gzip";

  return async (body, signal) => {
    const abort = new AbortController();
    const onAbort = () => abort.abort(signal.reason);
    signal.addEventListener("abort", onAbort);
    const cancelTimeout = environment.schedule(options.requestTimeoutMs, () => {
      abort.abort(new Error(`no answer within ${options.requestTimeoutMs} ms`));
    });
    try {
      signal.throwIfAborted();
      const response = await environment.fetch(url, {
        method: "POST",
        headers,
        body: options.gzip ? await compress(body) : body,
        // A redirected POST would arrive as a GET, or give the write key to another host.
        redirect: "manual",
        keepalive: isPageHidden() && body.length < MAX_OUTLIVING_BYTES,
        signal: abort.signal,
      });
      const { status } = response;
      // Read to its end in any case: a connection is used again only after that.
      return { answer: { status, retryAfter: response.headers.get("retry-after"), body: await response.text() } };
    } catch (failure) {
      return { failure: abort.signal.aborted ? abort.signal.reason : failure };
    } finally {
      cancelTimeout();
      signal.removeEventListener("abort", onAbort);
    }
  };
}

/** `btoa` takes Latin-1 only; a write key may be anything. */
function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

async function compress(text: string): Promise<ArrayBuffer> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** True in a browser's page that is being left. */
function isPageHidden(): boolean {
  const { document } = globalThis as { readonly document?: { readonly visibilityState?: string } };
  return document?.visibilityState === "hidden";
}
