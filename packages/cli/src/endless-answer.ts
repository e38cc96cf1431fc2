/** An answer that has no end, read as it comes. */

export interface EndlessOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Until the answer begins. */
  readonly timeoutMs: number;
  /** Ends it at any time. */
  readonly signal: AbortSignal;
}

/** Resolves when the answer begins; rejects as `fetch` does. */
export async function beginEndless({ url, headers, timeoutMs, signal }: EndlessOptions): Promise<Response> {
  const begun = new AbortController();
  const timer = setTimeout(() => begun.abort(new DOMException("no answer", "TimeoutError")), timeoutMs);
  try {
    // The token is for this server and no other.
    return await fetch(url, { headers, redirect: "error", signal: AbortSignal.any([begun.signal, signal]) });
  } finally {
    clearTimeout(timer);
  }
}

/** Its bytes; `lost` throws where they break off. */
export async function* endless({ body }: Response, lost: (cause: unknown) => never): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch (cause) {
    lost(cause);
  }
}
