/** An answer that is read as it comes, however long it is. */
import { CliError, EXIT } from "./exit-code.ts";

export interface DownloadOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Until the answer begins. */
  readonly timeoutMs: number;
}

/** Resolves when the answer begins; rejects as `fetch` does. */
export async function beginDownload({ url, headers, timeoutMs }: DownloadOptions): Promise<Response> {
  const begun = new AbortController();
  const timer = setTimeout(() => begun.abort(new DOMException("no answer", "TimeoutError")), timeoutMs);
  try {
    // The token is for this server and no other.
    return await fetch(url, { headers, redirect: "error", signal: begun.signal });
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
