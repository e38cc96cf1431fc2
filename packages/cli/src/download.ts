/** An answer that is read as it comes, however long it is. */
import { CliError, EXIT } from "./exit-code.ts";

export interface DownloadOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Until the answer begins. */
  readonly timeoutMs: number;
  /** Ends it at any time. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves when the answer begins; rejects as `fetch` does. */
export async function beginDownload({ url, headers, timeoutMs, signal }: DownloadOptions): Promise<Response> {
  const begun = new AbortController();
  const timer = setTimeout(() => begun.abort(new DOMException("no answer", "TimeoutError")), timeoutMs);
  try {
    // The token is for this server and no other.
    const signals = signal === undefined ? [begun.signal] : [begun.signal, signal];
    return await fetch(url, { headers, redirect: "error", signal: AbortSignal.any(signals) });
  } finally {
    clearTimeout(timer);
  }
}

/** The bytes of an answer; throws CliError where they break off. */
export async function* wholeOf({ body }: Response): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch (cause) {
    throw new CliError(EXIT.failed, "the answer broke off in the middle: what came is not all", { cause });
  }
}

/** The bytes of an answer that has no end; `lost` throws where they break off. */
export async function* endless({ body }: Response, lost: (cause: unknown) => never): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch (cause) {
    lost(cause);
  }
}
